// SPDX-License-Identifier: Apache-2.0
#include "os/run_program.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace unhang::os {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

ProgramRequest shell(const std::string& script, std::chrono::milliseconds limit = 60s) {
  // Tests of child_job.h in the same program take over orphans: here nobody does.
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ProgramRequest request;
  request.words = {"sh", "-c", script};
  request.deadline = Clock::now() + limit;
  return request;
}

ProgramReply run(const ProgramRequest& request) {
  auto reply = run_program(request);
  EXPECT_TRUE(reply) << reply.error().message;
  return reply ? *reply : ProgramReply{};
}

// No child of ours is left, dead or alive.
void expect_no_children() {
  const pid_t left = ::waitpid(-1, nullptr, WNOHANG);
  EXPECT_EQ(left, -1);
  EXPECT_EQ(errno, ECHILD);
}

bool lives(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  return (stat >> number >> name >> state) && state != "Z" && state != "X";
}

TEST(RunProgram, GivesWhatItPrintedAndHowItEnded) {
  const auto reply = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(reply.output, "out\n");
  EXPECT_EQ(reply.errors, "err\n");
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.signal, 0);
  EXPECT_FALSE(reply.timed_out);
  EXPECT_FALSE(reply.cut);
  EXPECT_FALSE(reply.well());
  EXPECT_TRUE(run(shell("true")).well());
  expect_no_children();
}

TEST(RunProgram, TellsTheSignalThatEndedIt) {
  const auto reply = run(shell("kill -SEGV $$"));
  EXPECT_EQ(reply.exit_code, -1);
  EXPECT_EQ(reply.signal, SIGSEGV);
  EXPECT_FALSE(reply.timed_out);
}

TEST(RunProgram, GetsInputAnEnvironmentAndAFolder) {
  auto request = shell("cat; echo \"$A,$LC_ALL,$HOME\"; pwd");
  request.input = std::string(1 << 20, 'x') + "\n";
  request.environment = {{"A", "b c"}, {"LC_ALL", "de_DE"}, {"PATH", "/usr/bin:/bin"}};
  request.folder = "/";
  const auto reply = run(request);
  EXPECT_EQ(reply.output, request.input + "b c,C,\n/\n");
  EXPECT_EQ(run(shell("cat")).output, "") << "nothing to read without input";
  EXPECT_EQ(run(shell("echo $LC_ALL")).output, "C\n");
}

TEST(RunProgram, ReadsAFileAndHandsItsOutputOverAsItComes) {
  auto request = shell("cat; echo err >&2");
  request.input_path = "/proc/self/exe";
  std::string taken;
  request.on_output = [&](std::string_view piece) {
    taken += piece;
    return true;
  };
  const auto reply = run(request);
  EXPECT_TRUE(reply.well());
  EXPECT_EQ(taken.size(), std::filesystem::file_size("/proc/self/exe"));
  EXPECT_EQ(taken.substr(1, 3), "ELF");
  EXPECT_EQ(reply.output, "");
  EXPECT_EQ(reply.errors, "err\n");
  request.input_path = "/no/such/file";
  EXPECT_FALSE(run_program(request));
}

TEST(RunProgram, EndsItWhereNobodyWantsMoreOfItsOutput) {
  auto request = shell("yes");
  std::size_t calls = 0;
  request.on_output = [&](std::string_view) { return ++calls < 3; };
  const auto reply = run(request);
  EXPECT_EQ(calls, 3U);
  EXPECT_EQ(reply.exit_code, -1);
  EXPECT_NE(reply.signal, 0);
  expect_no_children();
}

TEST(RunProgram, WhoDoesNotReadItsInputIsNoTrouble) {
  auto request = shell("exec true");
  request.input = std::string(1 << 20, 'x');
  EXPECT_TRUE(run(request).well());
}

TEST(RunProgram, SaysWhatIsNotThere) {
  ProgramRequest request;
  request.deadline = Clock::now() + 60s;
  request.words = {"no-such-program-here"};
  auto reply = run_program(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kNoInput);
  EXPECT_EQ(reply.error().message, "no-such-program-here is not installed (not found in PATH)");
  request.words = {"/etc/passwd"};
  EXPECT_EQ(run_program(request).error().code, base::ErrorCode::kNoInput);
  request.words = {};
  EXPECT_EQ(run_program(request).error().code, base::ErrorCode::kNoInput);
  request = shell("true");
  request.folder = "/no/such/folder";
  reply = run_program(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kIo);
  expect_no_children();
}

TEST(RunProgram, AFileThatIsNoProgramCannotBeStarted) {
  std::string name = std::filesystem::temp_directory_path() / "unhang-program-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name.data());
  std::ofstream(folder / "broken") << "#!/no/such/interpreter\n";
  std::filesystem::permissions(folder / "broken", std::filesystem::perms::owner_all);
  ProgramRequest request;
  request.words = {folder / "broken"};
  request.deadline = Clock::now() + 60s;
  const auto reply = run_program(request);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, base::ErrorCode::kIo);
}

TEST(RunProgram, EndsAtTheDeadlineWithWhatWasPrinted) {
  const auto reply = run(shell("echo begun; exec sleep 1000", 300ms));
  EXPECT_TRUE(reply.timed_out);
  EXPECT_EQ(reply.output, "begun\n");
  EXPECT_EQ(reply.exit_code, -1);
  EXPECT_EQ(reply.signal, SIGTERM);
  expect_no_children();
}

TEST(RunProgram, ADeadlineThatHasPassedStartsNothing) {
  const auto reply = run(shell("echo begun", -1ms));
  EXPECT_TRUE(reply.timed_out);
  EXPECT_EQ(reply.output, "");
}

TEST(RunProgram, KillsWhoIgnoresSigtermWithItsWholeGroup) {
  const auto reply =
      run(shell("trap '' TERM INT HUP; sleep 1000 & echo $!; while :; do sleep 1000; done", 300ms));
  EXPECT_TRUE(reply.timed_out);
  EXPECT_EQ(reply.signal, SIGKILL);
  const std::string grandchild = reply.output.substr(0, reply.output.find('\n'));
  ASSERT_FALSE(grandchild.empty());
  for (int i = 0; i < 5000 && lives(grandchild); ++i) ::usleep(1000);
  EXPECT_FALSE(lives(grandchild));
  expect_no_children();
}

TEST(RunProgram, KillsWhoIsStopped) {
  const auto reply = run(shell("kill -STOP $$", 200ms));
  EXPECT_TRUE(reply.timed_out);
  expect_no_children();
}

TEST(RunProgram, KeepsOnlySoMuchOfAGigabyte) {
  auto request = shell("head -c 1000000000 /dev/zero; echo end >&2");
  request.max_output = 1000;
  const auto reply = run(request);
  EXPECT_TRUE(reply.well());
  EXPECT_TRUE(reply.cut);
  EXPECT_EQ(reply.output, std::string(1000, '\0'));
  EXPECT_EQ(reply.errors, "end\n");
}

TEST(RunProgram, AnEndlessWriterEndsAtTheDeadline) {
  auto request = shell("exec cat /dev/zero", 200ms);
  request.max_output = 10;
  const auto reply = run(request);
  EXPECT_TRUE(reply.timed_out);
  EXPECT_EQ(reply.output.size(), 10u);
}

TEST(RunProgram, WaitsForOneThatClosedItsOutput) {
  const auto reply = run(shell("exec >&- 2>&-; sleep 0.3; exit 5"));
  EXPECT_EQ(reply.exit_code, 5);
}

// The grandchild holds the pipes; its parent's end is the end.
TEST(RunProgram, DoesNotWaitForGrandchildren) {
  const auto reply = run(shell("sleep 1000 & echo $!"));
  EXPECT_TRUE(reply.well());
  const std::string grandchild = reply.output.substr(0, reply.output.find('\n'));
  for (int i = 0; i < 5000 && lives(grandchild); ++i) ::usleep(1000);
  EXPECT_FALSE(lives(grandchild)) << "nothing is left behind";
}

TEST(RunProgram, CanBeWokenFromOutside) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto request = shell("echo begun; exec sleep 1000");
  request.wake_fd = ends[0];
  std::thread waker([&] {
    ::usleep(200'000);
    EXPECT_EQ(::write(ends[1], "x", 1), 1);
  });
  const auto reply = run(request);
  waker.join();
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_TRUE(reply.timed_out);
  expect_no_children();
}

TEST(RunProgram, NothingOfOursIsOpenInIt) {
  const FILE* file = std::fopen("/etc/passwd", "r");  // without O_CLOEXEC
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(run(shell("ls /proc/$$/fd | tr '\\n' ' '")).output.substr(0, 6), "0 1 2 ");
  EXPECT_EQ(run(shell("readlink /proc/$$/fd/* | grep -c passwd")).output, "0\n");
  std::fclose(const_cast<FILE*>(file));
}

TEST(FindProgram, LooksAsExecvpDoes) {
  EXPECT_EQ(find_program("sh", "/no/such:/bin"), "/bin/sh");
  EXPECT_EQ(find_program("sh", "/no/such"), "");
  EXPECT_EQ(find_program("/bin/sh", ""), "/bin/sh");
  EXPECT_EQ(find_program("/bin", ""), "") << "a folder";
  EXPECT_EQ(find_program("passwd", "/etc"), "") << "not executable";
  EXPECT_EQ(find_program("", "/bin"), "");
}

}  // namespace
}  // namespace unhang::os
