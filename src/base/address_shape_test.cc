// SPDX-License-Identifier: Apache-2.0
#include "base/address_shape.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

// The address that begins at the first '>' of the text, which is taken out.
std::string shape(std::string text) {
  const std::size_t at = text.find('>');
  text.erase(at, 1);
  const AddressShape found = address_at(text, at);
  if (found.end == 0) return "none";
  return (found.names_nobody ? "nobody " : "") + text.substr(at, found.end - at);
}

TEST(AddressShape, Ipv4) {
  EXPECT_EQ(shape(">10.0.0.3"), "10.0.0.3");
  EXPECT_EQ(shape("peer >10.0.0.3<45678>"), "10.0.0.3");
  EXPECT_EQ(shape("http://>8.8.8.8:80/"), "8.8.8.8");
  EXPECT_EQ(shape("MASTER_ADDR=>9.1.2.3"), "9.1.2.3");
  EXPECT_EQ(shape("nccl.>10.0.0.3.1234.log"), "10.0.0.3");
  EXPECT_EQ(shape("from >10.0.0.3."), "10.0.0.3");
  EXPECT_EQ(shape(">127.0.0.1"), "nobody 127.0.0.1");
  EXPECT_EQ(shape(">0.0.0.0:29500"), "nobody 0.0.0.0");
  EXPECT_EQ(shape(">256.0.0.1"), "none");
  EXPECT_EQ(shape(">10.0.0"), "none");
  EXPECT_EQ(shape(">10.0.0.3rc1"), "none");
  EXPECT_EQ(shape(">1.2.3.4.5"), "none");
  EXPECT_EQ(shape("1.>2.3.4.5"), "none");
}

TEST(AddressShape, VersionsAreNoAddresses) {
  EXPECT_EQ(shape("NCCL version >2.20.5.1"), "none");
  EXPECT_EQ(shape("NCCL version >2.20.5.1+cuda12.4"), "none");
  EXPECT_EQ(shape("driver version is >12.4.1.0"), "none");
  EXPECT_EQ(shape("libnccl.so.>2.20.5.1"), "none");
  EXPECT_EQ(shape("nvidia-nccl-cu12==>2.20.5.1"), "none");
  EXPECT_EQ(shape("OFED-5.8->1.1.2.1"), "none");
  EXPECT_EQ(shape("/opt/nccl/>2.20.5.1/lib"), "none");
}

TEST(AddressShape, Ipv6) {
  EXPECT_EQ(shape(">fe80::5054:ff:fe12:3456%eth0<45678>"), "fe80::5054:ff:fe12:3456");
  EXPECT_EQ(shape("[>2001:db8::1]:29500"), "2001:db8::1");
  EXPECT_EQ(shape(">2001:db8:0:0:0:0:0:1: refused"), "2001:db8:0:0:0:0:0:1");
  EXPECT_EQ(shape("[>::ffff:10.0.0.3]:29500"), "::ffff:10.0.0.3");
  EXPECT_EQ(address_at("::ffff:10.0.0.3", 0).canonical, "10.0.0.3");
  EXPECT_EQ(address_at("0000:0000:0000:0000:0000:ffff:0a00:0003", 0).canonical, "10.0.0.3");
  EXPECT_EQ(address_at("2001:DB8::1", 0).canonical, address_at("2001:db8:0:0:0:0:0:1", 0).canonical);
  EXPECT_EQ(shape(">::1"), "none");
  EXPECT_EQ(shape(">10:48:25.123"), "none");
  EXPECT_EQ(shape("PCI:>0000:b3:00.0"), "none");
  EXPECT_EQ(shape(">c10::bad"), "none");
  EXPECT_EQ(shape("std>::bad"), "none");
  EXPECT_EQ(shape(">2001:db8::1::2"), "none");
}

TEST(AddressShape, Hardware) {
  EXPECT_EQ(shape(">0c:42:a1:00:00:1F"), "0c:42:a1:00:00:1F");
  EXPECT_EQ(shape("guid >0c42:a103:0012:3456"), "0c42:a103:0012:3456");
  EXPECT_EQ(shape(">1024:2048:4096:8192"), "none");
  EXPECT_EQ(shape(">12:30:45"), "none");
  EXPECT_EQ(shape(">GPU-1a2b3c4d-0000-1111-2222-333344445555,"), "GPU-1a2b3c4d-0000-1111-2222-333344445555");
  EXPECT_EQ(address_at("GPU-1a2b3c4d", 0).canonical,
            address_at("GPU-1A2B3C4D-0000-1111-2222-333344445555", 0).canonical);
  EXPECT_EQ(shape(">GPU-0"), "none");
}

}  // namespace
}  // namespace unhang::base
