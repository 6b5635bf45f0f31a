// SPDX-License-Identifier: Apache-2.0
#include "base/pseudonym.h"

#include <set>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(Pseudonym, DependsOnKindKeyAndNameAlone) {
  const std::string plain = pseudonym(NameKind::kHost, "", "node3");
  EXPECT_EQ(plain, pseudonym(NameKind::kHost, "", "NODE3"));
  EXPECT_NE(plain, pseudonym(NameKind::kHost, "secret", "node3"));
  EXPECT_NE(plain, pseudonym(NameKind::kHost, "", "node4"));
  EXPECT_NE(plain.substr(5), pseudonym(NameKind::kUser, "", "node3").substr(5));
  EXPECT_EQ(plain.size(), 12u);
  EXPECT_EQ(plain.substr(0, 5), "host-");
}

// Outputs of two versions of the program must fit together, too.
TEST(Pseudonym, StaysOverReleases) {
  EXPECT_EQ(pseudonym(NameKind::kHost, "", "node3"), "host-bwlyhaw");
  EXPECT_EQ(pseudonym(NameKind::kAddress, "k", "10.0.0.3"), "addr-iis4diw");
}

TEST(Pseudonym, IsKnownAgain) {
  const std::string name = pseudonym(NameKind::kAddress, "", "10.0.0.3");
  EXPECT_EQ(pseudonym_at(name, 0), name.size());
  EXPECT_EQ(pseudonym_at("at " + name + ":1", 3), name.size());
  EXPECT_EQ(pseudonym_at(name + "x", 0), 0u);
  EXPECT_EQ(pseudonym_at(name.substr(0, name.size() - 1), 0), 0u);
}

// A real name of that look passes with a chance of 1 in 32; these do not.
TEST(Pseudonym, RealNamesOfThatLookAreNone) {
  EXPECT_EQ(pseudonym_at("host-servers", 0), 0u);
  EXPECT_EQ(pseudonym_at("host-compute", 0), 0u);
  EXPECT_EQ(pseudonym_at("user-manager", 0), 0u);
}

TEST(Pseudonym, ThousandNamesDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(pseudonym(NameKind::kHost, "", "node" + std::to_string(i)));
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace unhang::base
