// SPDX-License-Identifier: Apache-2.0
#include "os/run_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/program_child.h"

namespace unhang::os {
namespace {

using Clock = std::chrono::steady_clock;

// A program that is asked to end (SIGTERM) has so long for it; gdb needs some of it to let go of a process.
constexpr std::chrono::milliseconds kGrace{200};
// After SIGKILL only the kernel is slow; a program in state D may stay for ever.
constexpr std::chrono::milliseconds kDying{100};
// Where the kernel cannot tell of the end of a process (pidfd, before 5.3), it is asked this often.
constexpr std::chrono::milliseconds kAsking{20};
constexpr std::size_t kPieceBytes = 64 << 10;
// One turn of the loop reads at most so many pieces of one stream, so that the deadline is looked at.
constexpr int kPiecesInTurn = 16;

class Running {
 public:
  Running(const ProgramRequest& request, StartedProgram program)
      : x_request(request),
        x_program(std::move(program)),
        x_end_of_process(static_cast<int>(::syscall(SYS_pidfd_open, x_program.pid, 0))) {}

  // 0, or why it could not be executed (errno).
  int run(ProgramReply& reply) {
    const bool by_itself = pump(reply, x_request.deadline, x_request.wake_fd);
    if (!by_itself) {
      reply.timed_out = true;
      signal_group(SIGTERM);
      ::kill(-x_program.pid, SIGCONT);  // one that is stopped would never hear of it
      pump(reply, Clock::now() + kGrace, -1);
    }
    // Also what it left behind: a child of it may hold our pipes.
    signal_group(SIGKILL);
    if (!x_ended) pump(reply, Clock::now() + kDying, -1);
    reap(reply, by_itself);
    return x_exec_error;
  }

 private:
  // Until the program has ended and all that it printed is read. False: the time is over, or somebody woke
  // us.
  bool pump(ProgramReply& reply, Clock::time_point until, int wake_fd) {
    for (;;) {
      x_ended = x_ended || has_ended();
      take(x_program.output, reply.output, reply, x_request.on_output ? &x_request.on_output : nullptr);
      take(x_program.errors, reply.errors, reply, nullptr);
      take_exec_error();
      if (x_ended) return true;
      if (std::exchange(x_refused, false)) return false;
      const auto now = Clock::now();
      if (now >= until) return false;
      auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now);
      if (!x_end_of_process.valid()) wait = std::min(wait, kAsking);
      wait = std::min(wait, std::chrono::milliseconds(std::chrono::minutes(1)));
      std::array<pollfd, 5> ready{{{x_program.output.get(), POLLIN, 0},
                                   {x_program.errors.get(), POLLIN, 0},
                                   {x_program.exec_error.get(), POLLIN, 0},
                                   {x_end_of_process.get(), POLLIN, 0},
                                   {wake_fd, POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), static_cast<int>(wait.count()));
      if (ready[4].revents != 0) return false;
    }
  }

  // Reads what is there. One that was closed at the other end is closed here: it would be ready for ever.
  void take(FileDescriptor& from, std::string& to, ProgramReply& reply,
            const std::function<bool(std::string_view)>* hand_over) {
    std::array<char, kPieceBytes> piece;
    for (int i = 0; from.valid() && i < kPiecesInTurn; ++i) {
      const ssize_t got = ::read(from.get(), piece.data(), piece.size());
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) {
        from.close();
        return;
      }
      if (hand_over != nullptr) {
        if (!(*hand_over)({piece.data(), static_cast<std::size_t>(got)})) {
          from.close();
          x_refused = true;
          return;
        }
        continue;
      }
      const std::size_t left = x_request.max_output - std::min(x_request.max_output, to.size());
      const std::size_t kept = std::min(left, static_cast<std::size_t>(got));
      to.append(piece.data(), kept);
      if (kept < static_cast<std::size_t>(got)) reply.cut = true;
    }
  }

  void take_exec_error() {
    if (!x_program.exec_error.valid()) return;
    int error = 0;
    const ssize_t got = ::read(x_program.exec_error.get(), &error, sizeof error);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got == sizeof error) x_exec_error = error;
    x_program.exec_error.close();
  }

  // Its number stays taken until it is waited for, so that nobody else can be meant by it.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(x_program.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
  }

  // The child may be too young to lead its group: then there is only itself.
  void signal_group(int signal) const {
    if (::kill(-x_program.pid, signal) != 0) ::kill(x_program.pid, signal);
  }

  void reap(ProgramReply& reply, bool by_itself) const {
    if (!x_ended) {
      std::thread([pid = x_program.pid] {
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
      }).detach();
      return;
    }
    int status = 0;
    while (::waitpid(x_program.pid, &status, 0) < 0) {
      if (errno != EINTR) return;
    }
    if (WIFSIGNALED(status)) reply.signal = WTERMSIG(status);
    if (WIFEXITED(status) && by_itself) reply.exit_code = WEXITSTATUS(status);
  }

  const ProgramRequest& x_request;
  StartedProgram x_program;
  FileDescriptor x_end_of_process;
  bool x_ended = false;
  bool x_refused = false;  // who takes its output wants no more
  int x_exec_error = 0;
};

// The program's own PATH where it gets an environment of its own.
std::string path_of(const ProgramRequest& request) {
  for (const auto& [name, value] : request.environment) {
    if (name == "PATH") return value;
  }
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

bool can_be_executed(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(std::string_view name, std::string_view path) {
  if (name.empty()) return {};
  if (name.find('/') != std::string_view::npos)
    return can_be_executed(std::string(name)) ? std::string(name) : std::string();
  for (;;) {
    const std::size_t end = std::min(path.find(':'), path.size());
    std::string candidate(end == 0 ? std::string_view(".") : path.substr(0, end));
    candidate.append("/").append(name);
    if (can_be_executed(candidate)) return candidate;
    if (end == path.size()) return {};
    path.remove_prefix(end + 1);
  }
}

base::Result<ProgramReply> run_program(const ProgramRequest& request) {
  const std::string name = request.words.empty() ? std::string() : request.words.front();
  const std::string file = find_program(name, path_of(request));
  if (file.empty()) {
    return base::fail(base::ErrorCode::kNoInput, name.find('/') == std::string::npos
                                                     ? name + " is not installed (not found in PATH)"
                                                     : name + " is not there or may not be executed");
  }
  ProgramReply reply;
  if (Clock::now() >= request.deadline) {
    reply.timed_out = true;
    return reply;
  }
  auto started = start_program(file, request);
  if (!started) return base::fail(std::move(started.error()));
  if (const int error = Running(request, std::move(*started)).run(reply); error != 0)
    return base::fail(base::ErrorCode::kIo, file + " could not be started: " + std::strerror(error));
  return reply;
}

}  // namespace unhang::os
