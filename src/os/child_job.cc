// SPDX-License-Identifier: Apache-2.0
#include "os/child_job.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file_descriptor.h"

extern char** environ;  // NOLINT: POSIX wants it declared so

namespace unhang::os {
namespace {

using std::chrono::steady_clock;

// What went wrong in the child before the program ran; over a pipe that exec closes.
struct StartTrouble {
  int step = 0;
  int error = 0;
};
enum Step : int { kTakeIdentity = 1, kChangeFolder, kExecute };

struct Prepared {
  std::vector<char*> words, environment;
  const ChildJobRequest* request = nullptr;
  int report = -1;
  pid_t parent = -1;
};

[[noreturn]] void give_up(const Prepared& prepared, int step) {
  const StartTrouble trouble{step, errno};
  (void)!::write(prepared.report, &trouble, sizeof trouble);
  ::_exit(127);
}

// Raw system calls: those of the C library speak to all threads of a program, and only this one exists here.
bool take_identity(const ProcessIdentity& identity) {
  for (const ProcessLimit& limit : identity.limits) {
    const rlimit value{limit.soft, limit.hard};
    // Of another one's limit a lower one is fine; raising needs rights that we may not have.
    ::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value);
  }
  if (identity.user == ::geteuid() && identity.group == ::getegid()) return true;
  return ::syscall(SYS_setgroups, identity.groups.size(), identity.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, identity.group, identity.group, identity.group) == 0 &&
         ::syscall(SYS_setresuid, identity.user, identity.user, identity.user) == 0;
}

// In the child: only what is safe in a signal handler.
[[noreturn]] void become(const Prepared& prepared) {
  const ChildJobRequest& request = *prepared.request;
  if (request.own_session) ::setsid();
  // Ours are handlers, which exec resets, and an ignored SIGPIPE, which it would not.
  for (const int number : {SIGPIPE, SIGTTOU}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (request.output >= 0) ::dup2(request.output, STDOUT_FILENO);
  if (request.errors >= 0) ::dup2(request.errors, STDERR_FILENO);
  if (request.identity) {
    if (!take_identity(*request.identity)) give_up(prepared, kTakeIdentity);
    if (!request.identity->folder.empty() && ::chdir(request.identity->folder.c_str()) != 0)
      give_up(prepared, kChangeFolder);
  }
  // Who is killed the hard way can end nobody any more; the program at least is told. Behind the identity:
  // the kernel forgets it where that changes. And where we died meanwhile nobody tells it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != prepared.parent) ::raise(SIGTERM);
  environ = const_cast<char**>(prepared.environment.data());
  ::execvp(prepared.words.front(), prepared.words.data());
  give_up(prepared, kExecute);
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

base::Error start_error(const ChildJobRequest& request, const StartTrouble& trouble) {
  const std::string why = std::strerror(trouble.error);
  switch (trouble.step) {
    case kTakeIdentity:
      return {base::ErrorCode::kUsage, "the other user cannot be taken on: " + why + "; run as root"};
    case kChangeFolder:
      return {base::ErrorCode::kUsage, request.identity->folder + ": " + why};
    default: {
      const bool missing = trouble.error == ENOENT || trouble.error == ENOTDIR;
      return {missing ? base::ErrorCode::kNoInput : base::ErrorCode::kUsage,
              request.words.front() + ": " + why};
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<ChildJob>> ChildJob::start(const ChildJobRequest& request) {
  Prepared prepared;
  prepared.words = pointers_to(request.words);
  prepared.environment = pointers_to(request.environment);
  prepared.request = &request;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return base::fail(base::ErrorCode::kIo, std::string("no pipe: ") + std::strerror(errno));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  prepared.report = ends[1];
  prepared.parent = ::getpid();
  become_subreaper();
  const pid_t pid = ::fork();
  if (pid < 0)
    return base::fail(base::ErrorCode::kIo, std::string("no new process: ") + std::strerror(errno));
  if (pid == 0) become(prepared);
  write_end.close();
  StartTrouble trouble;
  ssize_t got = 0;
  while ((got = ::read(read_end.get(), &trouble, sizeof trouble)) < 0 && errno == EINTR) {
  }
  if (got == sizeof trouble) {
    ::waitpid(pid, nullptr, 0);
    return base::fail(start_error(request, trouble));
  }
  return std::unique_ptr<ChildJob>(new ChildJob(pid));
}

std::optional<ChildEnd> ChildJob::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != x_pid) continue;
    x_end.emplace();
    if (WIFEXITED(status)) x_end->code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      x_end->signal = WTERMSIG(status);
      x_end->core_dumped = WCOREDUMP(status);
    }
  }
  return x_end;
}

void ChildJob::signal(int number) const {
  if (!x_end) ::kill(x_pid, number);
}

void ChildJob::signal_group(int number) const {
  // Its group is its own id; as long as the program was not waited for, nobody else can have that.
  if (!x_end) ::kill(-x_pid, number);
}

std::vector<Descendant> ChildJob::processes() const {
  auto all = descendants_of(::getpid());
  std::erase_if(all, [](const Descendant& process) { return process.has_ended(); });
  return all;
}

void ChildJob::wait_until_ended(steady_clock::time_point end, bool kill) {
  constexpr std::chrono::milliseconds kFirst{2}, kLongest{50};
  auto rest = kFirst;
  for (;;) {
    reap();
    const auto running = processes();
    // Again and again: between the listing and the signal new ones may have been started.
    for (const Descendant& process : running) {
      if (kill) send_signal(process, SIGKILL);
    }
    if (running.empty() || steady_clock::now() >= end) return;
    std::this_thread::sleep_for(rest);
    rest = std::min(rest * 2, kLongest);
  }
}

JobEnd ChildJob::end_all(std::chrono::milliseconds grace, std::chrono::milliseconds at_most) {
  JobEnd result;
  const auto begun = steady_clock::now();
  reap();
  for (const Descendant& process : processes()) {
    send_signal(process, SIGTERM);
    send_signal(process, SIGCONT);
  }
  wait_until_ended(begun + std::min(grace, at_most), false);
  if (processes().empty()) return result;
  result.killed = true;
  wait_until_ended(begun + at_most, true);
  reap();
  result.left = processes();
  return result;
}

}  // namespace unhang::os
