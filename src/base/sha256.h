// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 of bytes that arrive in pieces: what a bundle says of each of its files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace unhang::base {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(std::string_view bytes);
  // 64 lower case hexadecimal digits; afterwards it begins anew.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> x_state;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace unhang::base
