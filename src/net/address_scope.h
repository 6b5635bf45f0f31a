// SPDX-License-Identifier: Apache-2.0
//
// Who can reach an IP address: this machine alone, a private network, or anybody.
#pragma once

#include <string>

namespace unhang::net {

enum class AddressScope { kLoopback, kPrivate, kPublic, kEverywhere };

// `ip`: 4 or 16 bytes in network order, as SocketAddress::ip_bytes(). kEverywhere: 0.0.0.0 and ::, which
// stand for all addresses of the machine. Private: RFC 1918, RFC 6598, link-local and RFC 4193.
AddressScope scope_of_ip(const std::string& ip);

// "10.0.0.7", "::1"; "?" where it is no address.
std::string text_of_ip(const std::string& ip);

}  // namespace unhang::net
