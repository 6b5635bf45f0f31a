// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_log.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;

class KernelLogTest : public ::testing::Test {
 protected:
  KernelLogTest() {
    std::string name = std::filesystem::temp_directory_path() / "unhang-kmsg-XXXXXX";
    x_folder = ::mkdtemp(name.data());
    x_file = x_folder / "kmsg";
  }
  ~KernelLogTest() override { std::filesystem::remove_all(x_folder); }

  base::Result<KernelLog> read(std::size_t most = 100) const {
    return read_kernel_log(x_file, most, std::chrono::steady_clock::now() + 60s);
  }

  std::filesystem::path x_folder, x_file;
};

TEST_F(KernelLogTest, ReadsRecordsAndPassesOverTheirDictionaries) {
  std::ofstream(x_file) << "6,339,5140900,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1234\n SUBSYSTEM=pci\n"
                           "4,340,6000001,-,caller=T1;second; with a semicolon\nbroken\n6,x,1,-;no\n";
  const auto log = read();
  ASSERT_TRUE(log);
  EXPECT_FALSE(log->cut);
  EXPECT_EQ(log->records, (std::vector<KernelRecord>{{5140900, "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234"},
                                                     {6000001, "second; with a semicolon"}}));
}

TEST_F(KernelLogTest, KeepsTheLastRecordsAndBoundsThem) {
  std::ofstream file(x_file);
  for (int i = 0; i < 10; ++i) file << "6," << i << "," << i << ",-;line " << i << "\n";
  file << "6,10,10,-;" << std::string(100'000, 'x') << "\n";
  file.close();
  const auto log = read(2);
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->cut);
  ASSERT_EQ(log->records.size(), 2u);
  EXPECT_EQ(log->records[0].text, "line 9");
  EXPECT_LE(log->records[1].text.size(), 4096u);
}

TEST_F(KernelLogTest, APipeInItsPlaceKeepsNobody) {
  ASSERT_EQ(::mkfifo(x_file.c_str(), 0600), 0);
  auto log = read();
  ASSERT_TRUE(log) << "nobody writes";
  EXPECT_TRUE(log->records.empty());
  const int writer = ::open(x_file.c_str(), O_RDWR);
  log = read();
  ::close(writer);
  ASSERT_TRUE(log) << "somebody could write and does not";
  EXPECT_TRUE(log->records.empty());
}

TEST_F(KernelLogTest, SaysWhyThereIsNone) {
  const auto log = read();
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, base::ErrorCode::kNoInput);
  const auto folder = read_kernel_log(x_folder, 1, std::chrono::steady_clock::now() + 60s);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, base::ErrorCode::kUnavailable);
}

TEST_F(KernelLogTest, AnEndlessFileEndsAtTheDeadline) {
  const auto log = read_kernel_log("/dev/zero", 1, std::chrono::steady_clock::now() + 10ms);
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->records.empty());
}

TEST(KernelLines, OfDmesg) {
  EXPECT_EQ(parse_dmesg_line("[ 1843.308145] eth0: up"), (KernelRecord{1843308145, "eth0: up"}));
  EXPECT_EQ(parse_dmesg_line("[    0.000000]  two"), (KernelRecord{0, " two"}));
  EXPECT_EQ(parse_dmesg_line("[Tue Sep 12 10:00:00 2023] x"), std::nullopt);
  EXPECT_EQ(parse_dmesg_line("[  +0.000316] x"), std::nullopt);
  EXPECT_EQ(parse_dmesg_line("[1.5"), std::nullopt);
  EXPECT_EQ(parse_dmesg_line(""), std::nullopt);
  EXPECT_EQ(parse_dmesg_line("["), std::nullopt);
}

TEST(KernelLines, TheClockBeganInThePast) {
  EXPECT_GT(kernel_clock_start_ns(), 1'500'000'000'000'000'000);
}

}  // namespace
}  // namespace unhang::os
