// SPDX-License-Identifier: Apache-2.0
#include "collect/kernel_log_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "collect/fake_programs_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::string_literals;
using Status = model::SourceStatus;

constexpr std::int64_t kStart = 1'771'404'600'000'000'000;  // 2026-02-18T08:50:00Z

TEST(KernelLogText, HasUtcTimesAndNoSecrets) {
  EXPECT_EQ(kernel_log_text({{{1'500'000, "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234"},
                              {60'000'001, "hook: token=hf_abcdefghijklmnopqrstuvwxyz"}}},
                            "gpu-b07", kStart),
            "2026-02-18T08:50:01.500000+00:00 gpu-b07 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=1234\n"
            "2026-02-18T08:51:00.000001+00:00 gpu-b07 kernel: hook: token=(removed)\n");
}

TEST(KernelLogText, IsWhatTheReaderOfLogsKnows) {
  const std::string text = kernel_log_text(
      {{{1'500'000, "NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, GPU has fallen off the bus."}}}, "gpu-b07",
      kStart);
  const auto evidence = formats::read_evidence("kernel.log", text);
  EXPECT_EQ(evidence.kind, "log");
  ASSERT_EQ(evidence.logs.size(), 1u);
  ASSERT_EQ(evidence.logs[0].events.size(), 1u);
  EXPECT_EQ(evidence.logs[0].events[0].code, 79);
}

TEST(KernelLogText, TimesThatNoKernelHasAreHarmless) {
  EXPECT_NE(kernel_log_text({{{INT64_MAX, "x"}}}, "", kStart).find(" host kernel: x\n"), std::string::npos);
}

class KernelLogSourceTest : public ::testing::Test, protected fixture::FakePrograms {
 protected:
  SourceOutcome run() {
    KernelLogPlace place{x_folder / "kmsg", "gpu-b07", programs(), 2};
    place.job_began_ns = x_job_began;
    return run_alone(kernel_log_source("kernel-log", std::move(place), x_names));
  }
  std::int64_t x_job_began = os::kernel_clock_start_ns();
};

TEST_F(KernelLogSourceTest, KeepsTheLastOfTheDevice) {
  put("kmsg", "6,1,1000000,-;one\n6,2,2000000,-;two\n6,3,3000000,-;three\n");
  EXPECT_EQ(run().status, Status::kAnswered);
  const std::string text = kept("kernel", "gpu-b07.log");
  EXPECT_EQ(text.find("kernel: one"), std::string::npos);
  EXPECT_NE(text.find("kernel: two\n"), std::string::npos);
  EXPECT_EQ(x_files[0].note, (x_folder / "kmsg").string() + ", the last 2 records");
}

TEST_F(KernelLogSourceTest, WhatIsOlderThanTheJobIsMarked) {
  x_job_began += 3'700'000'000'000;  // an hour and 100 s
  put("kmsg", "6,1,99000000,-;last week\n6,2,101000000,-;in the hour before\n");
  EXPECT_EQ(run().status, Status::kAnswered);
  ASSERT_EQ(x_files.size(), 2u);
  EXPECT_TRUE(x_files[0].stale);
  EXPECT_FALSE(x_files[1].stale);
  EXPECT_NE(kept("kernel", "gpu-b07-before.log").find("kernel: last week\n"), std::string::npos);
  EXPECT_NE(kept("kernel", "gpu-b07.log").find("kernel: in the hour before\n"), std::string::npos);
}

TEST_F(KernelLogSourceTest, AsksDmesgWhereTheDeviceGivesNothing) {
  ASSERT_EQ(::mkfifo((x_folder / "kmsg").c_str(), 0600), 0);
  program("dmesg", "echo '[    1.500000] eth0: up'");
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_NE(kept("kernel", "gpu-b07.log").find(" gpu-b07 kernel: eth0: up\n"), std::string::npos);
}

TEST_F(KernelLogSourceTest, ThenJournalctlAndSaysWhatFailed) {
  program("dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1");
  program("journalctl", "echo '2026-02-18T08:50:00.000000+0000 h kernel: x'");
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason,
            "dmesg: dmesg: read kernel buffer failed: Operation not permitted (exit status 1)");
  EXPECT_EQ(kept("kernel", "journalctl.log"), "2026-02-18T08:50:00.000000+0000 h kernel: x\n");
}

TEST_F(KernelLogSourceTest, WithoutAnyItIsMissing) {
  const auto outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, (x_folder / "kmsg").string() + ": No such file or directory");
}

TEST_F(KernelLogSourceTest, NoPermissionIsARefusal) {
  program("dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1");
  EXPECT_EQ(run().status, Status::kRefused);
}

}  // namespace
}  // namespace unhang::collect
