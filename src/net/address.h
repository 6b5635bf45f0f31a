// SPDX-License-Identifier: Apache-2.0
//
// Where to connect to: "host:port" as people write it, and the IP addresses behind a name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include "base/result.h"
#include "net/deadline.h"

namespace unhang::net {

struct HostPort {
  std::string host;  // a name or a numeric address, without brackets
  std::uint16_t port = 0;

  std::string text() const;                           // "node3:28028", "[::1]:28028"
  auto operator<=>(const HostPort&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 errs
};

// "node3:28028", "[::1]:28028", "node3", "::1"; where no port is written, it is `default_port`. kUsage
// otherwise.
base::Result<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port);

// An IPv4 or IPv6 address with its port.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&x_storage); }
  socklen_t size() const { return x_size; }
  int family() const { return x_storage.ss_family; }
  std::uint16_t port() const;
  // 4 or 16 bytes in network order; an IPv4 address mapped into IPv6 gives its 4.
  std::string ip_bytes() const;
  bool is_loopback() const;
  bool is_any() const;       // 0.0.0.0, ::
  std::string text() const;  // "127.0.0.1:28028", "[::1]:28028"

 private:
  sockaddr_storage x_storage = {};
  socklen_t x_size = 0;
};

// Every address of the host, each once, in the order of preference of the system. "localhost" always gives
// 127.0.0.1 and ::1: a server may listen on one of them only, and /etc/hosts need not name both. A name that
// is not resolved at the deadline is an error (kTryAgain), one that does not exist is kUnavailable.
base::Result<std::vector<SocketAddress>> resolve(const HostPort& where, const Deadline& deadline);

}  // namespace unhang::net
