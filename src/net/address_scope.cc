// SPDX-License-Identifier: Apache-2.0
#include "net/address_scope.h"

#include <algorithm>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace unhang::net {

AddressScope scope_of_ip(const std::string& ip) {
  if (std::all_of(ip.begin(), ip.end(), [](char byte) { return byte == 0; }))
    return AddressScope::kEverywhere;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(ip[i]); };
  const auto when = [](bool is_private) {
    return is_private ? AddressScope::kPrivate : AddressScope::kPublic;
  };
  constexpr unsigned char kShared = 64, kLastOf12 = 31, kTopTwo = 0xc0, kTopSeven = 0xfe;
  if (ip.size() == 4) {
    if (byte(0) == 127) return AddressScope::kLoopback;
    return when(byte(0) == 10 || (byte(0) == 192 && byte(1) == 168) || (byte(0) == 169 && byte(1) == 254) ||
                (byte(0) == 172 && byte(1) >= 16 && byte(1) <= kLastOf12) ||
                (byte(0) == 100 && (byte(1) & kTopTwo) == kShared));
  }
  if (ip == std::string(15, '\0') + '\1') return AddressScope::kLoopback;
  constexpr unsigned char kLinkLocal = 0xfe, kLinkLocalNext = 0x80, kUniqueLocal = 0xfc;
  return when((byte(0) & kTopSeven) == kUniqueLocal ||
              (byte(0) == kLinkLocal && (byte(1) & kTopTwo) == kLinkLocalNext));
}

std::string text_of_ip(const std::string& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ip.size() == 4 ? AF_INET : AF_INET6;
  if ((ip.size() != 4 && ip.size() != 16) || ::inet_ntop(family, ip.data(), text, sizeof text) == nullptr)
    return "?";
  return text;
}

}  // namespace unhang::net
