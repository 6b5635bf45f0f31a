// SPDX-License-Identifier: Apache-2.0
#include "os/private_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace unhang::os {
namespace {

namespace fs = std::filesystem;

class PrivateFileTest : public ::testing::Test {
 protected:
  PrivateFileTest() {
    std::string name = fs::temp_directory_path() / "unhang-private-XXXXXX";
    x_folder = ::mkdtemp(name.data());
  }
  ~PrivateFileTest() override { fs::remove_all(x_folder); }

  static unsigned mode(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(x_folder), fs::directory_iterator{}));
  }

  fs::path x_folder;
};

TEST_F(PrivateFileTest, FoldersAreForTheOwnerOnly) {
  ASSERT_TRUE(make_private_folder(x_folder / "above" / "bundle"));
  EXPECT_EQ(mode(x_folder / "above" / "bundle"), 0700u);
  EXPECT_TRUE(make_private_folder(x_folder / "above" / "bundle/")) << "it is empty";
  ASSERT_TRUE(make_private_subfolder(x_folder / "above" / "bundle" / "a" / "b"));
  EXPECT_EQ(mode(x_folder / "above" / "bundle" / "a"), 0700u);
  EXPECT_TRUE(make_private_subfolder(x_folder / "above" / "bundle" / "a"));
}

TEST_F(PrivateFileTest, RefusesAFolderWithSomethingInIt) {
  std::ofstream(x_folder / ".hidden") << "x";
  const auto made = make_private_folder(x_folder);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::kUsage);
  const auto file = make_private_folder(x_folder / ".hidden");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, base::ErrorCode::kUsage);
}

TEST_F(PrivateFileTest, GetsItsNameOnlyWhenItIsWhole) {
  const fs::path path = x_folder / "dump";
  {
    auto file = PrivateFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("first try"));
    ASSERT_TRUE(file->rewind());
    ASSERT_TRUE(file->write("whole"));
    EXPECT_FALSE(fs::exists(path));
    ASSERT_TRUE(file->finish());
  }
  EXPECT_EQ(content(path), "whole");
  EXPECT_EQ(mode(path), 0600u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(PrivateFileTest, LeavesNothingWhenItIsNotFinished) {
  {
    auto file = PrivateFile::create(x_folder / "dump");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("half"));
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(PrivateFileTest, ReplacesOnlyWhenAsked) {
  ASSERT_TRUE(write_private_file(x_folder / "manifest", "one"));
  ASSERT_TRUE(write_private_file(x_folder / "manifest", "two"));
  EXPECT_EQ(content(x_folder / "manifest"), "two");
  auto file = PrivateFile::create(x_folder / "manifest");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("three"));
  EXPECT_FALSE(file->finish());
  EXPECT_EQ(content(x_folder / "manifest"), "two");
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace unhang::os
