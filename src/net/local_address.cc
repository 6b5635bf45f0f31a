// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <array>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include "os/file_descriptor.h"

namespace unhang::net {

bool is_local(const SocketAddress& address) {
  if (address.is_loopback() || address.is_any()) return true;
  // Only an own address can be bound. Port 0: any that is free.
  sockaddr_storage own{};
  std::memcpy(&own, address.get(), address.size());
  if (address.family() == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&own)->sin_port = 0;
  } else if (address.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&own)->sin6_port = 0;
  } else {
    return false;
  }
  const os::FileDescriptor probe(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return probe.valid() && ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&own), address.size()) == 0;
}

}  // namespace unhang::net
