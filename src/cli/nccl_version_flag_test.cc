// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_version_flag.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

class NcclVersionFlag : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = (x_folder / "job.log").string();
    std::ofstream(path) << text;
    return path;
  }
  void SetUp() override {
    x_folder = std::filesystem::path(::testing::TempDir()) / "nccl_version_flag";
    std::filesystem::create_directories(x_folder);
  }
  void TearDown() override { std::filesystem::remove_all(x_folder); }
  std::filesystem::path x_folder;
};

TEST_F(NcclVersionFlag, IsARelease) {
  EXPECT_EQ(nccl_version_of("2.28.9")->text(), "2.28.9");
}

TEST_F(NcclVersionFlag, IsFoundInALog) {
  const std::string path = write("node1:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n" +
                                 std::string(1 << 20, 'x') + "\nNCCL version 2.24.3+cuda12.4\n");
  EXPECT_EQ(nccl_version_of(path)->text(), "2.24.3");
}

TEST_F(NcclVersionFlag, NeitherIsAMistakeOfTheCommandLine) {
  for (const std::string& text : {std::string("two"), write("no version here\n"), x_folder.string()}) {
    const auto release = nccl_version_of(text);
    ASSERT_FALSE(release) << text;
    EXPECT_EQ(release.error().code, base::ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace unhang::cli
