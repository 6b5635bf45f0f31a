// SPDX-License-Identifier: Apache-2.0
#include "base/pci_address.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace unhang::base {
namespace {

std::optional<std::uint64_t> hex(std::string_view text, std::size_t most_digits) {
  if (text.empty() || text.size() > most_digits) return {};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::string written(std::uint64_t domain, std::uint64_t bus, std::uint64_t device, std::uint64_t function) {
  std::array<char, 40> out{};
  const int length =
      std::snprintf(out.data(), out.size(), "%04llx:%02llx:%02llx.%llx",
                    static_cast<unsigned long long>(domain), static_cast<unsigned long long>(bus),
                    static_cast<unsigned long long>(device), static_cast<unsigned long long>(function));
  return {out.data(), static_cast<std::size_t>(length)};
}

// domain << 20 | bus << 12 | device << 4 | function
std::string of_number(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  constexpr std::size_t kShortest = 4;  // "1000": bus 1, device 0, function 0
  if (text.size() < kShortest) return {};
  const auto value = hex(text, 13);
  if (!value) return {};
  return written(*value >> 20, (*value >> 12) & 0xff, (*value >> 4) & 0xff, *value & 0xf);
}

}  // namespace

std::string pci_address(std::string_view text) {
  if (text.starts_with("PCI:")) text.remove_prefix(4);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return of_number(text);
  std::uint64_t domain = 0;
  if (const std::size_t second = text.find(':', colon + 1); second != std::string_view::npos) {
    const auto stated = hex(text.substr(0, colon), 8);
    if (!stated) return {};
    domain = *stated;
    text.remove_prefix(colon + 1);
  }
  const std::size_t middle = text.find(':');
  const std::size_t dot = text.find('.', middle);
  const auto bus = hex(text.substr(0, middle), 2);
  const auto device = hex(text.substr(middle + 1, dot == std::string_view::npos ? dot : dot - middle - 1), 2);
  const auto function =
      dot == std::string_view::npos ? std::optional<std::uint64_t>(0) : hex(text.substr(dot + 1), 1);
  if (!bus || !device || !function) return {};
  return written(domain, *bus, *device, *function);
}

}  // namespace unhang::base
