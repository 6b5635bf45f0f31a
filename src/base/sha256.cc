// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes nettle.
#include "base/sha256.h"

#include <array>

#include <nettle/sha2.h>

namespace unhang::base {

struct Sha256::State {
  sha256_ctx context;
};

Sha256::Sha256() : x_state(std::make_unique<State>()) {
  sha256_init(&x_state->context);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) {
  sha256_update(&x_state->context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

std::string Sha256::hex() {
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&x_state->context, digest.size(), digest.data());  // and begins anew
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

}  // namespace unhang::base
