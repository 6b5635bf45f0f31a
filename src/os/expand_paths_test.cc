// SPDX-License-Identifier: Apache-2.0
#include "os/expand_paths.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/archive_fixture.h"
#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

using Paths = std::vector<std::string>;
using Notes = std::vector<PathNote>;

// Works inside a folder of its own, so that relative paths and expected values are short.
class ExpandPaths : public testing::Test {
 protected:
  void SetUp() override {
    x_before = std::filesystem::current_path();
    std::filesystem::current_path(x_folder.path(""));
  }
  void TearDown() override { std::filesystem::current_path(x_before); }

  void files(const Paths& names) {
    for (const std::string& name : names) x_folder.write(name, name);
  }
  static Expanded expand(const Paths& arguments, const ExpandLimits& limits = {}) {
    auto out = expand_paths(arguments, limits);
    if (!out) ADD_FAILURE() << out.error().message;
    return out ? *std::move(out) : Expanded{};
  }

  fixture::TempFolder x_folder;
  std::filesystem::path x_before;
};

TEST_F(ExpandPaths, FoldersAreWalkedSortedBytewise) {
  files({"run/b", "run/a/z", "run/a/B", "run/a.log", "run/Z", "other"});
  const Expanded out = expand({"run"});
  EXPECT_EQ(out.files, (Paths{"run/Z", "run/a.log", "run/a/B", "run/a/z", "run/b"}));
  EXPECT_TRUE(out.notes.empty());
}

TEST_F(ExpandPaths, HiddenFilesAreReadOnlyWhenNamed) {
  files({"run/.hidden", "run/.git/config", "run/a"});
  EXPECT_EQ(expand({"run"}).files, Paths{"run/a"});
  EXPECT_TRUE(expand({"run"}).notes.empty());
  EXPECT_EQ(expand({"run/.hidden", "run/.git"}).files, (Paths{"run/.git/config", "run/.hidden"}));
  std::filesystem::current_path("run");
  EXPECT_EQ(expand({"."}).files, Paths{"a"});
}

TEST_F(ExpandPaths, AFileIsListedOnceHoweverItIsNamed) {
  files({"a", "run/b"});
  const std::string absolute = std::filesystem::current_path() / "a";
  EXPECT_EQ(expand({"a", "./a", "a", ".//a", "run/../a", absolute}).files.size(), 1u);
  EXPECT_EQ(expand({"run", "run/b", "./run/", "run//b"}).files, Paths{"run/b"});
  EXPECT_EQ(expand({"-", "-", "a"}).files, (Paths{"-", "a"}));
  EXPECT_TRUE(expand({"a", "./a"}).notes.empty());
}

TEST_F(ExpandPaths, LinksToFilesAreFollowedAndTheirTargetKeepsItsName) {
  files({"run/dump_3", "elsewhere/x"});
  ::symlink("dump_3", "run/a_latest");
  ::symlink("../elsewhere/x", "run/far");
  ::symlink("nowhere", "run/dangling");
  const Expanded out = expand({"run"});
  EXPECT_EQ(out.files, (Paths{"run/dump_3", "run/far"}));
  EXPECT_EQ(out.notes, (Notes{{"run/a_latest", "a link to run/dump_3, which is read already"},
                              {"run/dangling", "a link whose target does not exist"}}));
}

TEST_F(ExpandPaths, LinksToFoldersAreFollowedOnlyAsArguments) {
  files({"run/a", "far/b"});
  ::symlink("..", "run/up");  // would be a cycle
  ::symlink("far", "near");
  const Expanded out = expand({"run"});
  EXPECT_EQ(out.files, Paths{"run/a"});
  EXPECT_EQ(out.notes, (Notes{{"run/up", "a link to a folder; not followed: name it to read it"}}));
  EXPECT_EQ(expand({"near"}).files, Paths{"near/b"});
  EXPECT_EQ(expand({"near", "far"}).files.size(), 1u);
}

TEST_F(ExpandPaths, PipesSocketsAndDevicesArePassedOver) {
  files({"run/a"});
  ASSERT_EQ(::mkfifo("run/pipe", 0600), 0);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string("run/socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const Expanded out = expand({"run", "/dev/null"});
  EXPECT_EQ(out.files, Paths{"run/a"});
  EXPECT_EQ(out.notes, (Notes{{"/dev/null", "a device; not read"},
                              {"run/pipe", "a pipe, which could block; not read (pipe its data in with -)"},
                              {"run/socket", "a socket; not read"}}));
  EXPECT_EQ(expand({"run/pipe", "run/a"}).notes.size(), 1u);
}

TEST_F(ExpandPaths, PatternsThatAreNoFileAreExpanded) {
  files({"dump_0", "dump_1", "dump_[2]", "logs/x/err", "logs/y/err"});
  EXPECT_EQ(expand({"dump_*"}).files, (Paths{"dump_0", "dump_1", "dump_[2]"}));
  EXPECT_EQ(expand({"dump_[2]"}).files, Paths{"dump_[2]"});  // exists as it is
  EXPECT_EQ(expand({"dump_[01]"}).files, (Paths{"dump_0", "dump_1"}));
  EXPECT_EQ(expand({"logs/?/err", "logs/*"}).files, (Paths{"logs/x/err", "logs/y/err"}));
  EXPECT_EQ(expand({"*none*", "dump_0"}).notes, (Notes{{"*none*", "the pattern matches nothing"}}));
}

TEST_F(ExpandPaths, WhatIsMissingIsANoteWhereSomethingIsThere) {
  files({"a"});
  const Expanded out = expand({"a", "b", "a/c", ""});
  EXPECT_EQ(out.files, Paths{"a"});
  EXPECT_EQ(out.notes, (Notes{{"(empty argument)", "No such file or directory"},
                              {"a/c", "Not a directory"},
                              {"b", "No such file or directory"}}));
}

TEST_F(ExpandPaths, NothingAtAllIsAnErrorThatSaysWhatToDo) {
  const auto missing = expand_paths({"x", "y"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::kNoInput);
  EXPECT_EQ(
      missing.error().message,
      "x: No such file or directory; y: No such file or directory. Give files, folders, archives or patterns "
      "that hold the evidence, or - for stdin.");
  ASSERT_TRUE(std::filesystem::create_directory("empty"));
  const auto empty = expand_paths({"empty"});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message.find("empty: no files in it (hidden ones are left out)"), 0u);
  const auto none = expand_paths({});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message.find("no input is named."), 0u);
  EXPECT_NE(expand_paths({"1", "2", "3", "4", "5"}).error().message.find("; and 2 more."), std::string::npos);
}

TEST_F(ExpandPaths, TheOrderOfArgumentsDoesNotMatter) {
  files({"run/a", "run/b", "run/sub/c", "x", "y"});
  ::symlink("x", "link");
  Paths arguments = {"run", "link", "x", "run/sub", "nothing", "./y", "-", "r*/a", "y"};
  const Expanded first = expand(arguments);
  EXPECT_EQ(first.files, (Paths{"-", "run/a", "run/b", "run/sub/c", "x", "y"}));
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(arguments.begin(), arguments.end(), random);
    const Expanded other = expand(arguments);
    EXPECT_EQ(other.files, first.files);
    EXPECT_EQ(other.notes, first.notes);
  }
}

TEST_F(ExpandPaths, ManyFilesAndDeepFoldersAreBounded) {
  files({"run/1", "run/2", "run/3", "run/d/e/f/4", "z"});
  ExpandLimits limits;
  limits.max_files = 2;
  const Expanded few = expand({"z", "run"}, limits);
  EXPECT_EQ(few.files, (Paths{"run/1", "run/2"}));
  EXPECT_EQ(few.notes,
            (Notes{{"(all)", "more than 2 files; the rest is not read: name the folder that matters"}}));
  limits = {};
  limits.max_depth = 2;
  const Expanded shallow = expand({"run"}, limits);
  EXPECT_EQ(shallow.files, (Paths{"run/1", "run/2", "run/3"}));
  EXPECT_EQ(shallow.notes, (Notes{{"run/d/e/f", "more than 2 folders deep; not read"}}));
  limits.max_files = 4;
  EXPECT_EQ(expand({"run/1", "run/2", "run/3", "z"}, limits).notes, Notes{});  // exactly as many as allowed
}

}  // namespace
}  // namespace unhang::os
