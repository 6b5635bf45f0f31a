// SPDX-License-Identifier: Apache-2.0
#include "net/address_scope.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace unhang::net {
namespace {

std::string bytes_of(const char* text) {
  const bool is_six = std::string(text).find(':') != std::string::npos;
  std::string bytes(is_six ? 16 : 4, '\0');
  EXPECT_EQ(::inet_pton(is_six ? AF_INET6 : AF_INET, text, bytes.data()), 1) << text;
  return bytes;
}

TEST(AddressScope, WhoCanReachIt) {
  for (const char* text : {"127.0.0.1", "127.8.0.1", "::1"})
    EXPECT_EQ(scope_of_ip(bytes_of(text)), AddressScope::kLoopback) << text;
  for (const char* text : {"10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.7.1", "100.64.0.1",
                           "169.254.1.1", "fd00::1", "fe80::1"})
    EXPECT_EQ(scope_of_ip(bytes_of(text)), AddressScope::kPrivate) << text;
  for (const char* text :
       {"8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "100.128.0.1", "2001:db8::1"})
    EXPECT_EQ(scope_of_ip(bytes_of(text)), AddressScope::kPublic) << text;
  for (const char* text : {"0.0.0.0", "::"})
    EXPECT_EQ(scope_of_ip(bytes_of(text)), AddressScope::kEverywhere) << text;
}

TEST(AddressScope, AsText) {
  EXPECT_EQ(text_of_ip(bytes_of("10.0.0.7")), "10.0.0.7");
  EXPECT_EQ(text_of_ip(bytes_of("fd00::1")), "fd00::1");
  EXPECT_EQ(text_of_ip("x"), "?");
}

}  // namespace
}  // namespace unhang::net
