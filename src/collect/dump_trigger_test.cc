// SPDX-License-Identifier: Apache-2.0
#include "collect/dump_trigger.h"

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Status = model::SourceStatus;

TEST(TriggerUrl, WithAndWithoutARank) {
  const auto plain = parse_trigger_url("http://127.0.0.1:25999");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->rank, "");
  EXPECT_EQ(plain->url, "http://127.0.0.1:25999");
  const auto ranked = parse_trigger_url("12=https://node3:1/x/");
  ASSERT_TRUE(ranked);
  EXPECT_EQ(ranked->rank, "12");
  EXPECT_EQ(ranked->url, "https://node3:1/x/");
  for (const char* wrong : {"", "12=", "x=http://h", "ftp://h", "http://h/?a=b", "file:///etc/passwd"})
    EXPECT_FALSE(parse_trigger_url(wrong)) << wrong;
}

// A worker that writes its dump when a byte comes, as PyTorch does. It is a thread here; its file system is
// ours.
class DumpTriggerTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  DumpTriggerTest() {
    os::Process worker;
    worker.pid = 412;
    worker.user = static_cast<std::int64_t>(::getuid());
    worker.mount_namespace = "mnt:[1]";
    worker.root = x_folder / "root";
    worker.environment = {{"RANK", "3"},
                          {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", x_folder / "pipe"},
                          {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", x_folder / "dump_"}};
    x_search.workers = {worker};
    x_search.own_namespace = "mnt:[1]";
    x_search.host = "gpu-b07";
    x_search.settle = 1ms;
  }
  ~DumpTriggerTest() override {
    x_end = true;
    if (x_thread.joinable()) x_thread.join();
  }
  void listen(bool answer) {
    const std::string pipe = x_folder / "pipe3.pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    x_thread = std::thread([this, reader, answer] {
      char byte = 0;
      while (!x_end) {
        pollfd ready{reader, POLLIN, 0};
        ::poll(&ready, 1, 5);
        if (::read(reader, &byte, 1) == 1 && answer) put("dump_3", "a new dump.");
      }
      ::close(reader);
    });
  }
  // The clock jumps, the worker's file system does not: the steps between two looks are real time.
  SourceOutcome run() { return run_alone(triggered_dumps_source("flight-recorder", x_search), 60s); }

  DumpSearch x_search;
  std::atomic<bool> x_end{false};
  std::thread x_thread;
};

TEST_F(DumpTriggerTest, TheOldDumpIsCopiedFirstAndTheNewOneToo) {
  put("dump_3", "old.");
  std::filesystem::last_write_time(x_folder / "dump_3",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  listen(true);
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(content(x_bundle / "flight_recorder/gpu-b07-412/dump_3"), "old.");
  EXPECT_EQ(content(x_bundle / "flight_recorder_triggered/gpu-b07-412/dump_3"), "a new dump.");
  EXPECT_EQ(x_files.size(), 2u);
}

TEST_F(DumpTriggerTest, NoAnswerIsSaidAndTheOldDumpIsKept) {
  put("dump_3", "old.");
  listen(false);
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_NE(outcome.reason.find("0 of 1 workers wrote a dump after it was triggered"), std::string::npos)
      << outcome.reason;
  EXPECT_EQ(x_files.size(), 1u);
}

TEST_F(DumpTriggerTest, WithoutAListenerNothingIsTriggered) {
  put("dump_3", "old.");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_NE(outcome.reason.find("rank 3 was not triggered: "), std::string::npos) << outcome.reason;
  EXPECT_FALSE(std::filesystem::exists(x_folder / "pipe3.pipe"));
  EXPECT_EQ(x_files.size(), 1u);
}

}  // namespace
}  // namespace unhang::collect
