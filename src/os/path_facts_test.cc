// SPDX-License-Identifier: Apache-2.0
#include "os/path_facts.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace unhang::os {
namespace {

namespace fs = std::filesystem;

class PathFacts : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "unhang-paths-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    x_folder = name;
  }
  void TearDown() override { fs::remove_all(x_folder); }

  fs::path x_folder;
};

TEST_F(PathFacts, KindOwnerRightsAndSpace) {
  ASSERT_EQ(::mkfifo((x_folder / "0.pipe").c_str(), 0600), 0);
  ASSERT_EQ(::chmod((x_folder / "0.pipe").c_str(), 0640), 0);
  const std::vector<PathQuestion> questions{{.path = x_folder.string()},
                                            {.path = (x_folder / "0.pipe").string()},
                                            {.path = (x_folder / "none").string()}};
  const auto answers = ask_paths(questions, {});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].end, ReadEnd::kWhole);
  EXPECT_TRUE(S_ISDIR(answers[0].mode));
  EXPECT_GT(answers[0].bytes_total, 0u);
  EXPECT_GE(answers[0].bytes_total, answers[0].bytes_free);
  EXPECT_TRUE(S_ISFIFO(answers[1].mode));  // and it did not wait for a writer
  EXPECT_EQ(answers[1].mode & 0777u, 0640u);
  EXPECT_EQ(answers[1].owner, static_cast<std::int64_t>(::getuid()));
  EXPECT_EQ(answers[2].end, ReadEnd::kFailed);
  EXPECT_EQ(answers[2].error, ENOENT);
}

TEST_F(PathFacts, NothingLeadsOutOfTheRoot) {
  fs::create_directory(x_folder / "root");
  std::ofstream(x_folder / "secret") << "x";
  fs::create_symlink("../secret", x_folder / "root" / "out");
  const std::vector<PathQuestion> questions{{.root = (x_folder / "root").string(), .path = "/out"},
                                            {.root = (x_folder / "root").string(), .path = "/"}};
  const auto answers = ask_paths(questions, {});
  EXPECT_EQ(answers[0].end, ReadEnd::kFailed);
  EXPECT_EQ(answers[1].end, ReadEnd::kWhole);
}

TEST_F(PathFacts, ALinkItselfIsNotFollowedWhereThatIsSaid) {
  fs::create_symlink("/", x_folder / "link");
  const std::vector<PathQuestion> questions{{.path = (x_folder / "link").string(), .follow_last = false},
                                            {.path = (x_folder / "link").string()}};
  const auto answers = ask_paths(questions, {});
  EXPECT_TRUE(S_ISLNK(answers[0].mode));
  EXPECT_TRUE(S_ISDIR(answers[1].mode));
}

TEST_F(PathFacts, NoTimeMeansNotTried) {
  const std::vector<PathQuestion> questions{{.path = "/"}};
  ReadDeadlines deadlines;
  deadlines.end = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(ask_paths(questions, deadlines)[0].end, ReadEnd::kNotTried);
}

}  // namespace
}  // namespace unhang::os
