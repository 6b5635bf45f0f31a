// SPDX-License-Identifier: Apache-2.0
#include "collect/nccl_logs_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using Status = model::SourceStatus;

TEST(NcclLogName, AsNcclExpandsIt) {
  EXPECT_EQ(nccl_log_name("/tmp/nccl.%h.%p.log", 412), "/tmp/nccl.%h.412.log");
  EXPECT_EQ(nccl_log_name("/tmp/100%%.%t.%", 412), "/tmp/100%.%t.%") << "anything else stands for itself";
  EXPECT_TRUE(is_nccl_log("nccl.gpu-b07.412.log", "nccl.%h.412.log"));
  EXPECT_FALSE(is_nccl_log("nccl.gpu-b07.413.log", "nccl.%h.412.log"));
  EXPECT_FALSE(is_nccl_log("nccl.a.b.412.log", "nccl.%h.412.log")) << "a host has no dot";
  EXPECT_FALSE(is_nccl_log("nccl..412.log", "nccl.%h.412.log"));
  EXPECT_TRUE(is_nccl_log("x", "x"));
}

class NcclLogsSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  void worker(std::int64_t pid, const std::string& pattern, std::vector<std::int64_t> inside = {}) {
    os::Process process;
    process.pid = pid;
    process.namespace_pids = std::move(inside);
    process.user = static_cast<std::int64_t>(::getuid());
    process.root = x_folder / "root";
    process.environment = {{"NCCL_DEBUG_FILE", pattern}};
    x_search.workers.push_back(std::move(process));
  }
  SourceOutcome run() { return run_alone(nccl_logs_source("nccl-logs", x_search, x_names)); }

  NcclLogSearch x_search;
};

TEST_F(NcclLogsSourceTest, FindsTheFileInTheWorkersFileSystem) {
  put("root/logs/nccl.gpu-b07.412.log", "one HF_TOKEN=abcdef\n");
  put("root/logs/nccl.gpu-b07.413.log", "two\n");
  worker(88121, "/logs/nccl.%h.%p.log", {88121, 412});
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  ASSERT_EQ(x_files.size(), 1u);
  EXPECT_EQ(x_files[0].pid, 88121);
  EXPECT_EQ(x_files[0].original_path, "/logs/nccl.gpu-b07.412.log");
  EXPECT_EQ(kept("nccl_log", ".log"), "one HF_TOKEN=(removed)\n");
}

TEST_F(NcclLogsSourceTest, OneFileOfAllRanksIsKeptOnce) {
  put("root/nccl.log", "all\n");
  worker(1, "/nccl.log");
  worker(2, "/nccl.log");
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(x_files.size(), 1u);
}

TEST_F(NcclLogsSourceTest, OfALargeOneTheBeginningAndTheEnd) {
  put("root/nccl.log", "begin\nmiddle middle\nlast line\n");
  x_search.first_bytes = 6;
  x_search.last_bytes = 12;
  worker(1, "/nccl.log");
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(kept("nccl_log", "-begin.log"), "begin\n");
  EXPECT_EQ(kept("nccl_log", "-end.log"), "last line\n") << "from the beginning of a line";
}

TEST_F(NcclLogsSourceTest, LinksPipesAndFilesThatAreNotThereAreSaid) {
  put("secret", "secret\n");
  std::filesystem::create_directories(x_folder / "root");
  std::filesystem::create_symlink(x_folder / "secret", x_folder / "root/link.log");
  ASSERT_EQ(::mkfifo((x_folder / "root/pipe.log").c_str(), 0600), 0);
  worker(1, "/link.log");
  worker(2, "/pipe.log");
  worker(3, "/none.log");
  const auto outcome = run();
  EXPECT_TRUE(x_files.empty());
  EXPECT_NE(outcome.reason.find("/pipe.log: no plain file"), std::string::npos) << outcome.reason;
  EXPECT_NE(outcome.reason.find("/none.log: No such file or directory"), std::string::npos) << outcome.reason;
}

TEST_F(NcclLogsSourceTest, WithoutTheVariableThereIsNothing) {
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "no worker states a file for NCCL's log (NCCL_DEBUG_FILE)");
}

}  // namespace
}  // namespace unhang::collect
