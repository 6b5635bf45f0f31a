// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "collect/nccl_release.h"
#include "collect/ras_addresses.h"
#include "collect/ras_conversation.h"
#include "collect/ras_safety.h"

namespace unhang::collect {
namespace {

std::string release_text(const std::optional<NcclRelease>& release) {
  return release ? release->text() : "none";
}

TEST(NcclRelease, IsReadInAllItsSpellings) {
  EXPECT_EQ(release_text(parse_nccl_release("2.28.9")), "2.28.9");
  EXPECT_EQ(release_text(parse_nccl_release("2.28.9+cuda12.8")), "2.28.9");
  EXPECT_EQ(release_text(parse_nccl_release("22809")), "2.28.9");
  for (const char* text : {"", "2", "2.28", "2.28.", "two", "2.28.9999", "-2.1.3", "99", "2.+8.9"})
    EXPECT_EQ(release_text(parse_nccl_release(text)), "none") << text;
  EXPECT_EQ(release_text(release_of_library_name("/usr/lib/libnccl.so.2.30.7")), "2.30.7");
  EXPECT_EQ(release_text(release_of_library_name("/usr/lib/libnccl.so.2")), "none");
  EXPECT_EQ(release_text(release_in_bytes("xx NCCL version %s\0NCCL version 2.21.5+cuda12.4")), "none");
  EXPECT_EQ(release_text(release_in_bytes("NCCL version %s NCCL version 2.21.5+cuda12.4")), "2.21.5");
  EXPECT_EQ(release_text(release_of_answer("{ \"nccl_version\": \"2.30.7\",")), "2.30.7");
  EXPECT_EQ(release_text(release_of_answer("{ \"nccl_version\": ")), "none");
}

TEST(RasSafety, KnowsTheReleasesThatCrash) {
  const auto permission = [](const char* text) { return ras_safety(parse_nccl_release(text)).permission; };
  for (const char* text : {"2.24.3", "2.25.1", "2.32.3", "3.0.0"}) {
    EXPECT_EQ(permission(text), RasPermission::kAll) << text;
    EXPECT_EQ(ras_safety(parse_nccl_release(text)).reason, "");
  }
  for (const char* text : {"2.26.2", "2.26.6", "2.27.3", "2.27.7", "2.28.3"})
    EXPECT_EQ(permission(text), RasPermission::kNone) << text;
  for (const char* text : {"2.28.7", "2.28.9", "2.29.2", "2.30.7", "2.31.0"})
    EXPECT_EQ(permission(text), RasPermission::kJsonOnly) << text;
  EXPECT_EQ(ras_safety(std::nullopt).permission, RasPermission::kAll);
  EXPECT_FALSE(has_ras({2, 23, 4}));
  EXPECT_TRUE(has_ras({2, 24, 3}));
}

std::string addresses(const base::Result<std::vector<net::HostPort>>& list) {
  if (!list) return list.error().message;
  std::string all;
  for (const net::HostPort& one : *list) all += one.text() + " ";
  return all;
}

TEST(RasAddresses, OfAListAndOfTheEnvironment) {
  EXPECT_EQ(addresses(parse_ras_addresses("node3,[::1]:5,node3:28028,10.0.0.1:7")),
            "node3:28028 [::1]:5 10.0.0.1:7 ");
  EXPECT_NE(addresses(parse_ras_addresses("a,,b")).find("there is no host"), std::string::npos);
  EXPECT_EQ(addresses(default_ras_addresses(nullptr)), "localhost:28028 ");
  EXPECT_EQ(addresses(default_ras_addresses("")), "localhost:28028 ");
  EXPECT_EQ(addresses(default_ras_addresses("0.0.0.0:9")), "0.0.0.0:9 ");
  EXPECT_EQ(addresses(default_ras_addresses("a:b")).rfind("NCCL_RAS_ADDR: ", 0), 0u);
}

TEST(RasAddresses, TheTimeGrowsWithNcclsOwnFactor) {
  using std::chrono::seconds;
  EXPECT_EQ(default_ras_timeout(nullptr), seconds(15));
  EXPECT_EQ(default_ras_timeout("3"), seconds(25));
  EXPECT_EQ(default_ras_timeout("x"), seconds(15));
  EXPECT_EQ(default_ras_timeout("-2"), seconds(15));
  EXPECT_EQ(default_ras_timeout("2000000000"), seconds(510));
}

TEST(WholeReport, IsOneThatReachesItsOwnEnd) {
  EXPECT_TRUE(is_whole_report("{\"a\": {\"}\": \"\\\"}\"}}\n", true));
  EXPECT_FALSE(is_whole_report("{\"a\": {\"}\": \"\\\"}\"}\n", true));
  EXPECT_FALSE(is_whole_report("{\"a\\", true));
  EXPECT_FALSE(is_whole_report("", true));
  EXPECT_TRUE(is_whole_report("RCCL version 2\n{ }", true));
  EXPECT_TRUE(is_whole_report("Errors\n======\n\nWarnings\n========\n", false));
  EXPECT_FALSE(is_whole_report("Errors\n======\n\nWarn", false));
}

}  // namespace
}  // namespace unhang::collect
