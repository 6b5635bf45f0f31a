// SPDX-License-Identifier: Apache-2.0
#include "os/path_facts.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child_side.h"
#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

using Clock = std::chrono::steady_clock;

// What the child sends for each question. Both sides are the same program.
struct Frame {
  std::int32_t error = 0;
  std::uint32_t mode = 0;
  std::int64_t owner = -1, group = -1, modified_ns = 0;
  std::uint64_t type = 0, bytes_total = 0, bytes_free = 0, inodes_total = 0, inodes_free = 0;
  std::uint64_t read_only = 0;
};
static_assert(sizeof(Frame) <= 512, "a frame must be written to a pipe in one piece (PIPE_BUF)");

// A handle only.
int open_handle(const PathQuestion& question) {
  const int flags = O_PATH | O_CLOEXEC | (question.follow_last ? 0 : O_NOFOLLOW);
  if (question.root.empty()) return ::open(question.path.c_str(), flags);
  const FileDescriptor root(::open(question.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return -1;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  const auto fd =
      static_cast<int>(::syscall(SYS_openat2, root.get(), question.path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd;
  // Links are not followed then: what is behind one is not known, and not absent.
  const int part = open_part_by_part(root.get(), question.path.c_str(), flags);
  if (part < 0 && errno == ENOTDIR) errno = ELOOP;
  struct stat status {};
  if (part < 0 || !question.follow_last || ::fstat(part, &status) != 0 || !S_ISLNK(status.st_mode))
    return part;
  ::close(part);
  errno = ELOOP;
  return -1;
}

Frame answer(const PathQuestion& question) {
  Frame frame;
  const FileDescriptor handle(open_handle(question));
  struct stat status {};
  struct statfs system {};
  if (!handle.valid() || ::fstat(handle.get(), &status) != 0 || ::fstatfs(handle.get(), &system) != 0) {
    frame.error = errno;
    return frame;
  }
  frame.mode = status.st_mode;
  frame.owner = status.st_uid;
  frame.group = status.st_gid;
  frame.modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const auto block = static_cast<std::uint64_t>(system.f_frsize > 0 ? system.f_frsize : system.f_bsize);
  frame.type = static_cast<std::uint64_t>(system.f_type) & 0xffffffffu;
  frame.bytes_total = system.f_blocks * block;
  frame.bytes_free = system.f_bavail * block;
  frame.inodes_total = system.f_files;
  frame.inodes_free = system.f_ffree;
  frame.read_only = (static_cast<unsigned long>(system.f_flags) & ST_RDONLY) != 0 ? 1 : 0;
  return frame;
}

[[noreturn]] void run_asker(std::span<const PathQuestion> questions, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const PathQuestion& question : questions) {
    const Frame frame = answer(question);
    if (::write(pipe, &frame, sizeof frame) != static_cast<ssize_t>(sizeof frame)) ::_exit(1);
  }
  ::_exit(0);
}

// A child that is stuck in the kernel is waited for by a thread of its own, so that no zombie is left.
void abandon(pid_t child) {
  ::kill(child, SIGKILL);
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (::waitpid(child, nullptr, WNOHANG) != 0) return;
    ::usleep(1000);
  }
  std::thread([child] {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }).detach();
}

// The next frame: kWhole, kStuck, kNotTried (no time) or kFailed (the child has ended).
ReadEnd next_frame(int pipe, const ReadDeadlines& deadlines, Frame& frame) {
  for (;;) {
    const auto now = Clock::now();
    if (now >= deadlines.end) return ReadEnd::kNotTried;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadlines.end - now);
    pollfd ready{pipe, POLLIN, 0};
    const int polled =
        ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(deadlines.still.count(), left.count())));
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0) return Clock::now() >= deadlines.end ? ReadEnd::kNotTried : ReadEnd::kStuck;
    const ssize_t got = ::read(pipe, &frame, sizeof frame);
    if (got < 0 && errno == EINTR) continue;
    return got == static_cast<ssize_t>(sizeof frame) ? ReadEnd::kWhole : ReadEnd::kFailed;
  }
}

PathAnswer answer_of(const Frame& frame) {
  if (frame.error != 0) {
    PathAnswer failed;
    failed.end = ReadEnd::kFailed;
    failed.error = frame.error;
    return failed;
  }
  return {.end = ReadEnd::kWhole,
          .error = 0,
          .mode = frame.mode,
          .owner = frame.owner,
          .group = frame.group,
          .modified_ns = frame.modified_ns,
          .type = frame.type,
          .read_only = frame.read_only != 0,
          .bytes_total = frame.bytes_total,
          .bytes_free = frame.bytes_free,
          .inodes_total = frame.inodes_total,
          .inodes_free = frame.inodes_free};
}

// One child for the questions from `at` on; answers until it gets stuck, or to the end.
void serve(std::span<const PathQuestion> questions, std::size_t& at, const ReadDeadlines& deadlines,
           std::vector<PathAnswer>& answers, bool& stuck) {
  const auto fail = [&](ReadEnd end, int error) {
    answers[at].end = end;
    answers[at++].error = error;
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ReadEnd::kFailed, errno);
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the program may run in the child
  const pid_t child = ::fork();
  if (child == 0) run_asker(questions.subspan(at), write_end.get());
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  write_end.close();
  if (child < 0) return fail(ReadEnd::kFailed, error);
  while (at < questions.size()) {
    Frame frame;
    const ReadEnd end = next_frame(read_end.get(), deadlines, frame);
    if (end == ReadEnd::kWhole) {
      answers[at++] = answer_of(frame);
      continue;
    }
    fail(end, end == ReadEnd::kFailed ? EIO : 0);
    stuck = end == ReadEnd::kStuck;
    return abandon(child);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::vector<PathAnswer> ask_paths(std::span<const PathQuestion> questions, const ReadDeadlines& deadlines) {
  std::vector<PathAnswer> answers(questions.size());
  constexpr int kMostStuck = 8;  // each costs a child that may never end
  int stuck_children = 0;
  for (std::size_t at = 0; at < questions.size();) {
    if (stuck_children >= kMostStuck || Clock::now() >= deadlines.end) break;
    bool stuck = false;
    serve(questions, at, deadlines, answers, stuck);
    if (stuck) ++stuck_children;
  }
  return answers;
}

}  // namespace unhang::os
