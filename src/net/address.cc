// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include "base/printable.h"
#include "net/abandonable_call.h"

namespace unhang::net {
namespace {

using base::ErrorCode;
using base::fail;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return text;
}

struct Lookup {
  int error = 0;
  std::vector<SocketAddress> addresses;
};

Lookup look_up(const HostPort& where, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  Lookup found;
  found.error = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &list);
  if (found.error != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  for (const addrinfo* item = list; item != nullptr; item = item->ai_next) {
    if (item->ai_family != AF_INET && item->ai_family != AF_INET6) continue;
    SocketAddress address(item->ai_addr, item->ai_addrlen);
    const auto same = [&](const SocketAddress& other) { return other.text() == address.text(); };
    if (std::none_of(found.addresses.begin(), found.addresses.end(), same))
      found.addresses.push_back(address);
  }
  return found;
}

}  // namespace

std::string HostPort::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

base::Result<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kUsage, fmt::format("'{}': {}; addresses are written HOST:PORT or [IPV6]:PORT",
                                               base::printable(text), what));
  };
  HostPort result{{}, default_port};
  std::string_view port;
  bool has_port = false;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return wrong("a ] is missing");
    result.host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return wrong("after ] comes :PORT");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    // Two colons without brackets: an IPv6 address alone.
    has_port = colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
    result.host = has_port ? text.substr(0, colon) : text;
    if (has_port) port = text.substr(colon + 1);
  }
  if (result.host.empty()) return wrong("there is no host");
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f || c == '/' || c == '[' || c == ']'; };
  if (result.host.size() > 255 || std::any_of(result.host.begin(), result.host.end(), odd))
    return wrong("this is no host");
  if (!has_port) return result;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535)
    return wrong("a port is a number from 1 to 65535");
  result.port = static_cast<std::uint16_t>(number);
  return result;
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : x_size(std::min<socklen_t>(size, sizeof(x_storage))) {
  std::memcpy(&x_storage, address, x_size);
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&x_storage)->sin6_port);
  return family() == AF_INET ? ntohs(reinterpret_cast<const sockaddr_in*>(&x_storage)->sin_port) : 0;
}

std::string SocketAddress::ip_bytes() const {
  if (family() == AF_INET) {
    const in_addr& ip = reinterpret_cast<const sockaddr_in*>(&x_storage)->sin_addr;
    return std::string(reinterpret_cast<const char*>(&ip), sizeof(ip));
  }
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(&x_storage)->sin6_addr;
  std::string bytes(reinterpret_cast<const char*>(&ip), sizeof(ip));
  return IN6_IS_ADDR_V4MAPPED(&ip) ? bytes.substr(12) : bytes;
}

bool SocketAddress::is_loopback() const {
  const std::string ip = ip_bytes();
  return ip.size() == 4 ? ip[0] == 127 : ip == std::string(15, '\0') + '\1';
}

bool SocketAddress::is_any() const {
  const std::string ip = ip_bytes();
  return std::all_of(ip.begin(), ip.end(), [](char byte) { return byte == 0; });
}

std::string SocketAddress::text() const {
  char host[NI_MAXHOST] = "";
  if (::getnameinfo(get(), x_size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return HostPort{host, port()}.text();
}

base::Result<std::vector<SocketAddress>> resolve(const HostPort& where, const Deadline& deadline) {
  const std::string name = lower(where.host);
  if (name == "localhost" || name == "localhost.") {
    std::vector<SocketAddress> both;
    for (const char* host : {"127.0.0.1", "::1"}) {
      const Lookup found = look_up({host, where.port}, AI_NUMERICHOST);
      both.insert(both.end(), found.addresses.begin(), found.addresses.end());
    }
    return both;
  }
  Lookup numeric = look_up(where, AI_NUMERICHOST);  // asks nobody
  if (numeric.error == 0) return std::move(numeric.addresses);
  const std::string shown = base::printable(where.host);
  const auto found = call_until<Lookup>(deadline, [where] { return look_up(where, AI_ADDRCONFIG); });
  if (!found) {
    return fail(ErrorCode::kTryAgain, fmt::format("the name {} was not resolved before the deadline", shown));
  }
  if (found->error != 0 || found->addresses.empty()) {
    const std::string why = found->error != 0 ? ::gai_strerror(found->error) : "no IP address";
    return fail(ErrorCode::kUnavailable, fmt::format("the name {} cannot be resolved: {}", shown, why));
  }
  return found->addresses;
}

}  // namespace unhang::net
