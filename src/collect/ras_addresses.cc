// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_addresses.h"

#include <algorithm>
#include <charconv>

namespace unhang::collect {

base::Result<std::vector<net::HostPort>> parse_ras_addresses(std::string_view list) {
  std::vector<net::HostPort> addresses;
  while (true) {
    const std::size_t comma = list.find(',');
    auto one = net::parse_host_port(list.substr(0, comma), kRasPort);
    if (!one) return base::fail(std::move(one.error()));
    if (std::find(addresses.begin(), addresses.end(), *one) == addresses.end())
      addresses.push_back(std::move(*one));
    if (comma == std::string_view::npos) return addresses;
    list.remove_prefix(comma + 1);
  }
}

base::Result<std::vector<net::HostPort>> default_ras_addresses(const char* nccl_ras_addr) {
  if (nccl_ras_addr == nullptr || *nccl_ras_addr == '\0')
    return std::vector<net::HostPort>{{"localhost", kRasPort}};
  auto one = net::parse_host_port(nccl_ras_addr, kRasPort);
  if (!one) return base::fail(std::move(one.error()).with("NCCL_RAS_ADDR"));
  return std::vector<net::HostPort>{std::move(*one)};
}

std::chrono::nanoseconds default_ras_timeout(const char* nccl_ras_timeout_factor) {
  constexpr int kMargin = 5, kLeg = 5, kHardStop = 5, kLargestFactor = 100;
  const std::string_view text = nccl_ras_timeout_factor != nullptr ? nccl_ras_timeout_factor : "";
  int factor = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || factor < 1) factor = 1;
  return std::chrono::seconds(kLeg + kHardStop * std::min(factor, kLargestFactor) + kMargin);
}

}  // namespace unhang::collect
