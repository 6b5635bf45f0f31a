// SPDX-License-Identifier: Apache-2.0
#include "os/child_job.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "os/output_copy.h"
#include "os/signal_relay.h"

namespace unhang::os {
namespace {

using namespace std::chrono_literals;

ChildJobRequest shell(const std::string& script) {
  return {.words = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin", "MARK=there"}, .identity = {}};
}

ChildEnd ended(ChildJob& job) {
  for (;;) {
    if (const auto end = job.reap()) return *end;
    std::this_thread::sleep_for(1ms);
  }
}

// What the program has printed, up to its end.
struct Printed {
  std::string text;
  ChildEnd end;
};
Printed output_of(ChildJobRequest request) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  request.output = write_end.get();
  auto job = ChildJob::start(request);
  EXPECT_TRUE(job.has_value());
  write_end.close();
  Printed printed;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(read_end.get(), buffer, sizeof buffer)) > 0;)
    printed.text.append(buffer, static_cast<std::size_t>(got));
  printed.end = ended(**job);
  return printed;
}

TEST(ChildJob, KeepsTheExitStatus) {
  auto job = ChildJob::start(shell("exit 7"));
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(ended(**job).exit_status(), 7);
  job = ChildJob::start(shell("kill -TERM $$"));
  ASSERT_TRUE(job.has_value());
  const ChildEnd end = ended(**job);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(end.exit_status(), 128 + SIGTERM);
}

TEST(ChildJob, SaysWhyItCannotStart) {
  auto job = ChildJob::start({.words = {"no-such-program"}, .environment = {"PATH=/bin"}, .identity = {}});
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, base::ErrorCode::kNoInput);
  EXPECT_EQ(job.error().message, "no-such-program: No such file or directory");
  job = ChildJob::start({.words = {"/etc/passwd"}, .environment = {}, .identity = {}});
  ASSERT_FALSE(job.has_value());
  EXPECT_EQ(job.error().code, base::ErrorCode::kUsage);
}

TEST(ChildJob, GivesExactlyTheEnvironment) {
  EXPECT_EQ(output_of(shell("echo $MARK ${HOME:-none}")).text, "there none\n");
}

TEST(ChildJob, PipesBreakInItAsUsual) {
  std::signal(SIGPIPE, SIG_IGN);  // as this program does
  const Printed printed = output_of(shell("sh -c 'kill -PIPE $$; echo survived'; echo $?"));
  EXPECT_EQ(printed.text, "141\n");
}

TEST(ChildJob, RunsWhereTheOtherRuns) {
  ChildJobRequest request = shell("pwd");
  request.identity.emplace();
  request.identity->user = ::geteuid();
  request.identity->group = ::getegid();
  request.identity->folder = "/usr";
  EXPECT_EQ(output_of(request).text, "/usr\n");
}

TEST(ChildJob, EndsAllThatWasStartedAlsoWhatHides) {
  // A double fork in a session of its own that ignores SIGTERM, and a stopped one.
  auto job = ChildJob::start(shell(
      "(setsid sh -c 'trap \"\" TERM; sleep 100 & wait; sleep 100' &) ; sleep 100 & kill -STOP $!; wait"));
  ASSERT_TRUE(job.has_value());
  const auto are_there = [&] {
    const auto all = (*job)->processes();
    const auto any = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
    return any([](const auto& process) { return process.name == "sleep" && process.state == 'S'; }) &&
           any([](const auto& process) { return process.state == 'T'; });
  };
  for (int i = 0; i < 1000 && !are_there(); ++i) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(are_there());
  const JobEnd end = (*job)->end_all(300ms, 5s);
  EXPECT_TRUE(end.killed);
  EXPECT_TRUE(end.left.empty());
  EXPECT_TRUE((*job)->processes().empty());
  EXPECT_EQ((*job)->reap()->signal, SIGTERM);
}

TEST(ChildJob, IsNotKilledWhereItEndsWhenAsked) {
  auto job = ChildJob::start(shell("trap 'exit 3' TERM; sleep 100 & wait"));
  ASSERT_TRUE(job.has_value());
  // A signal between fork and exec of the second one would be lost to the shell's handler.
  const auto sleeps = [&] {
    const auto all = (*job)->processes();
    return std::any_of(all.begin(), all.end(), [](const auto& process) { return process.name == "sleep"; });
  };
  while (!sleeps()) std::this_thread::sleep_for(1ms);
  const JobEnd end = (*job)->end_all(5s, 6s);
  EXPECT_FALSE(end.killed);
  EXPECT_TRUE((*job)->reap().has_value());
}

TEST(OutputCopy, PassesAllOnAndKeepsBothEnds) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("copy-" + std::to_string(::getpid()))).string();
  FILE* file = std::fopen(path.c_str(), "w+");
  auto copy = OutputCopy::make(::fileno(file));
  ASSERT_TRUE(copy.has_value());
  ChildJobRequest request = shell("seq 1 2000000");
  request.output = (*copy)->child_end();
  auto job = ChildJob::start(request);
  ASSERT_TRUE(job.has_value());
  (*copy)->start();
  EXPECT_TRUE((*copy)->drain(std::nullopt, -1));
  EXPECT_EQ(ended(**job).exit_status(), 0);
  std::ifstream in(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(all.size(), 14888896u);  // 9*2 + 90*3 + … + 1000001*8
  EXPECT_EQ((*copy)->bytes(), all.size());
  const OutputCopy::Kept kept = (*copy)->kept();
  EXPECT_EQ(kept.head, all.substr(0, OutputCopy::kHead));
  EXPECT_EQ(kept.tail, all.substr(all.size() - OutputCopy::kTail));
  EXPECT_EQ(kept.left_out, all.size() - OutputCopy::kHead - OutputCopy::kTail);
  EXPECT_TRUE((*copy)->last_output().has_value());
  std::fclose(file);
  std::filesystem::remove(path);
}

TEST(OutputCopy, AnOutputThatNobodyTakesIsGivenUp) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor read_end(ends[0]), write_end(ends[1]);
  auto copy = OutputCopy::make(write_end.get());
  ASSERT_TRUE(copy.has_value());
  ChildJobRequest request = shell("yes");
  request.output = (*copy)->child_end();
  auto job = ChildJob::start(request);
  ASSERT_TRUE(job.has_value());
  (*copy)->start();
  EXPECT_FALSE((*copy)->drain(100ms, -1));
  EXPECT_TRUE((*job)->end_all(1s, 2s).left.empty());
}

TEST(OutputCopy, TheChildNoticesThatTheReaderWentAway) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  auto copy = OutputCopy::make(write_end.get());
  ASSERT_TRUE(copy.has_value());
  read_end.close();
  ChildJobRequest request = shell("exec yes");
  request.output = (*copy)->child_end();
  auto job = ChildJob::start(request);
  ASSERT_TRUE(job.has_value());
  (*copy)->start();
  EXPECT_EQ(ended(**job).signal, SIGPIPE);
}

TEST(SignalRelay, TellsOfEachSignalAgainAndAgain) {
  SignalRelay relay{SIGUSR1, SIGTERM};
  EXPECT_TRUE(relay.take().empty());
  ASSERT_EQ(std::raise(SIGTERM), 0);
  ASSERT_EQ(std::raise(SIGUSR1), 0);
  pollfd watched{relay.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 0), 1);
  EXPECT_EQ(relay.take(), (std::vector<int>{SIGUSR1, SIGTERM}));
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  ASSERT_EQ(std::raise(SIGTERM), 0);
  EXPECT_EQ(relay.take(), (std::vector<int>{SIGTERM}));
}

TEST(SignalRelay, WhatWasIgnoredStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  {
    SignalRelay relay{SIGHUP};
    ASSERT_EQ(std::raise(SIGHUP), 0);
    EXPECT_TRUE(relay.take().empty());
  }
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace unhang::os
