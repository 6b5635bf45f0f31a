// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <gtest/gtest.h>

namespace unhang::net {
namespace {

bool any_local(const std::string& host) {
  const auto resolved = resolve({host, 28028}, Deadline::in(std::chrono::seconds(60)));
  EXPECT_TRUE(resolved) << host;
  for (const SocketAddress& address : resolved.value_or(std::vector<SocketAddress>{})) {
    if (is_local(address)) return true;
  }
  return false;
}

TEST(LocalAddress, OwnAndForeign) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"})
    EXPECT_TRUE(any_local(host)) << host;
  // Addresses for documentation: no machine has them.
  for (const char* host : {"192.0.2.7", "2001:db8::7"}) EXPECT_FALSE(any_local(host)) << host;
}

}  // namespace
}  // namespace unhang::net
