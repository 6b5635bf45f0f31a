// SPDX-License-Identifier: Apache-2.0
#include "os/temporary_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace unhang::os {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsPrivateAndGoesWithAllThatIsInIt) {
  std::string path;
  {
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    const TemporaryFolder folder = std::move(*made);
    path = folder.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/file") << "bytes";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, TwoAreNotTheSame) {
  const auto one = TemporaryFolder::make();
  const auto other = TemporaryFolder::make();
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->path(), other->path());
}

}  // namespace
}  // namespace unhang::os
