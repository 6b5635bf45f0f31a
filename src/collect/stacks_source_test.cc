// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks_source.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/fake_programs_for_tests.h"
#include "collect/process_states.h"
#include "collect/stack_tools.h"
#include "os/stopped_process.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Status = model::SourceStatus;

TEST(ProcessStates, WhatTheKernelPrints) {
  EXPECT_EQ(state_of_stat("7 (a) b) D 1 2"), 'D');
  EXPECT_EQ(state_of_stat("7 (a"), '\0');
  EXPECT_EQ(system_call_of("running"), "");
  EXPECT_EQ(system_call_of("-1 0x7ffc 0x7f"), "");
  EXPECT_EQ(system_call_of(""), "");
  EXPECT_EQ(system_call_of("99999 0x0 0x0"), "system call 99999");
  EXPECT_EQ(kernel_frames_of(
                "[<0>] futex_wait_queue+0x64/0x90\n[<0>] do_futex+0x1/0x2\nx\n[<0>] 0xffffffffffffffff\n"),
            (std::vector<std::string>{"futex_wait_queue", "do_futex"}));
}

TEST(PySpy, LosesTheCommandLine) {
  EXPECT_EQ(without_command_line(
                "Process 412: python3 -m vllm --api-key hunter2\nPython v3.12\n\nThread 412\n", false),
            "Process 412:\nPython v3.12\n\nThread 412\n");
  const std::string json = without_command_line(
      R"([{"pid":1,"frames":[{"name":"f","locals":[{"repr":"secret"}]}],"process_info":{"command_line":"x --key k"}}])",
      true);
  EXPECT_EQ(json.find("secret"), std::string::npos);
  EXPECT_EQ(json.find("--key"), std::string::npos);
  EXPECT_NE(json.find("\"name\": \"f\""), std::string::npos);
  EXPECT_EQ(without_command_line("no json", true), "");
}

TEST(Gdb, ExecutesNothingOfTheProcess) {
  const auto words = gdb_words(412, false);
  EXPECT_EQ(words[1], "-nx");
  const auto at = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) - words.begin();
  };
  EXPECT_LT(at("set auto-load off"), at("-p")) << "before its files are read";
  EXPECT_EQ(words[static_cast<std::size_t>(at("-p")) + 1], "412");
}

TEST(Gdb, LoadsPythonsHelpersOnlyFromWhereThePackagesPutThem) {
  const auto words = gdb_words(412, true);
  const auto at = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) - words.begin();
  };
  EXPECT_LT(at("set auto-load safe-path /usr/share/gdb/auto-load"), at("-p"));
  EXPECT_LT(at("set auto-load gdb-scripts off"), at("-p"));
  EXPECT_LT(at("thread apply all -s py-bt"), at("detach"));
}

// The thread sanitizer has one of its own in each process.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kThreadsOfAProcess = 2;
#else
constexpr std::size_t kThreadsOfAProcess = 1;
#endif

// A process that only waits.
class StacksSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  StacksSourceTest() {
    x_child = ::fork();
    if (x_child == 0) {
      for (;;) ::pause();
    }
    os::Process worker;
    worker.pid = x_child;
    worker.name = "worker";
    worker.environment = {{"RANK", "3"}};
    x_search.workers = {worker};
    x_search.host = "gpu-b07";
    x_search.programs = programs();
  }
  ~StacksSourceTest() override {
    ::kill(x_child, SIGKILL);
    ::waitpid(x_child, nullptr, 0);
  }
  SourceOutcome run(std::chrono::nanoseconds budget = 60s) {
    return run_alone(stacks_source("stacks", x_search, x_others, x_names), budget);
  }

  pid_t x_child = -1;
  StackSearch x_search;
  std::shared_ptr<OthersAtWork> x_others = std::make_shared<OthersAtWork>();
};

TEST_F(StacksSourceTest, TakesTheStateTwiceAndAsksBothTools) {
  program("py-spy", "echo '[{\"pid\": 1, \"frames\": []}]'");
  program("gdb", "echo; echo 'Thread 1 (LWP 7):'; echo '#0 pause () from libc.so'");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  ASSERT_EQ(x_files.size(), 4u);
  EXPECT_EQ(x_files[2].captured_ns - x_files[0].captured_ns, 8'000'000'000);
  const auto evidence = formats::read_evidence("s", content(x_bundle / x_files[0].path));
  ASSERT_EQ(evidence.process_samples.size(), 1u);
  const auto& process = evidence.process_samples[0];
  EXPECT_EQ(process.pid, x_child);
  EXPECT_EQ(process.host, "gpu-b07");
  ASSERT_EQ(process.threads.size(), kThreadsOfAProcess);
  EXPECT_EQ(process.threads[0].state, 'S');
  EXPECT_NE(kept("stacks", "-py-spy.json").find("\"frames\""), std::string::npos);
  EXPECT_NE(kept("stacks", "-gdb.txt").find("#0 pause ()"), std::string::npos);
  EXPECT_EQ(x_files[3].pid, x_child);
}

TEST_F(StacksSourceTest, WithoutToolsTheStateIsKeptAndTheyAreNamed) {
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "py-spy: not installed; gdb: not installed");
  EXPECT_EQ(x_files.size(), 2u);
}

TEST_F(StacksSourceTest, GdbIsNotAskedWhereItMayNotBe) {
  program("py-spy", "echo '[]'");
  program("gdb", "echo 'Thread 1'");
  x_search.native = false;
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(kept("stacks", "-gdb.txt"), "(none)");
}

TEST_F(StacksSourceTest, AnOldPySpyGivesText) {
  program("py-spy",
          "case \"$*\" in *--json*) echo 'error: Found argument --json which was not expected' >&2; exit 2;; "
          "esac;"
          "echo 'Process 7: python3 --secret x'");
  run();
  EXPECT_EQ(kept("stacks", "-py-spy.txt"), "Process 7:\n");
}

TEST_F(StacksSourceTest, ARefusalIsSaid) {
  program("py-spy",
          "echo 'Error: Permission Denied: Try running again with elevated permissions' >&2; exit 1");
  program("gdb", "echo 'ptrace: Operation not permitted.' >&2; exit 0");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_NE(outcome.reason.find("py-spy of " + std::to_string(x_child) + ": Error: Permission Denied"),
            std::string::npos)
      << outcome.reason;
  EXPECT_NE(outcome.reason.find(": ptrace: Operation not permitted."), std::string::npos) << outcome.reason;
}

// One that stops the process, ignores signals and never ends.
TEST_F(StacksSourceTest, AGdbThatHangsLeavesNobodyStopped) {
  program("gdb", "trap '' TERM INT; kill -STOP " + std::to_string(x_child) + "; while :; do sleep 1; done");
  x_search.sampling.samples = 1;
  const auto outcome = run(4s);
  EXPECT_NE(outcome.reason.find("the process had to be continued"), std::string::npos) << outcome.reason;
  EXPECT_NE(os::state_of_process(x_child), 'T');
}

TEST_F(StacksSourceTest, WhoStoodStoppedStaysSo) {
  ::kill(x_child, SIGSTOP);
  int status = 0;
  ::waitpid(x_child, &status, WUNTRACED);
  program("gdb", "exit 1");
  run();
  EXPECT_EQ(os::state_of_process(x_child), 'T');
}

TEST_F(StacksSourceTest, ProcessesOfAnotherProcAreOnlyLookedAt) {
  program("py-spy", "echo '[]'");
  program("gdb", "echo 'Thread 1'");
  put("proc/7/task/7/comm", "x\n");
  put("proc/7/task/7/stat", "7 (x) S 1\n");
  x_search.workers[0].pid = 7;
  x_search.proc = x_folder / "proc";
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "py-spy and gdb were not asked: these are the processes of another /proc");
}

TEST_F(StacksSourceTest, OthersComeBeforeGdb) {
  program("gdb", "echo; echo 'Thread 1 (LWP 7):'");
  bool saw_others = false;
  CaptureSource other{"ras-1", "ras", {}, {}, [](CaptureContext&) {
                        return SourceOutcome{Status::kAnswered, {}, {}};
                      }};
  other = OthersAtWork::counted(std::move(other), x_others);
  saw_others = x_others->any();
  const auto began = x_clock->now();
  x_search.sampling.samples = 1;
  run(60s);
  EXPECT_TRUE(saw_others);
  EXPECT_GE(x_clock->now() - began, 40s) << "two thirds of the budget, since the other one never ended";
  EXPECT_NE(kept("stacks", "-gdb.txt"), "(none)");
}

}  // namespace
}  // namespace unhang::collect
