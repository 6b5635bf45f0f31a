// SPDX-License-Identifier: Apache-2.0
#include "os/program_child.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

namespace unhang::os {
namespace {

constexpr std::string_view kLocale = "LC_ALL";
constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC of linux/close_range.h
constexpr int kFirstKept = 3;
constexpr int kLastSignal = 64;

// All that the child needs.
struct Prepared {
  const char* file;
  char* const* words;
  char* const* environment;
  const char* folder;  // nullptr: none
  int input, output, errors, exec_error;
};

[[noreturn]] void give_up(int to) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(to, &error, sizeof error);
  ::_exit(127);
}

// Copies to a number that is none of the three standard ones, so that the dup2 below cannot overwrite it.
int moved_up(int fd) {
  return ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstKept);
}

[[noreturn]] void become(const Prepared& prepared) {
  const int exec_error = moved_up(prepared.exec_error);
  // No handler of ours may run here; what we ignore, the program should not.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal <= kLastSignal; ++signal) ::sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Without a terminal a program that wants a password fails, instead of standing still.
  if (::setsid() < 0) give_up(exec_error);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int input = moved_up(prepared.input);
  const int output = moved_up(prepared.output);
  const int errors = moved_up(prepared.errors);
  if (::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(errors, 2) < 0) give_up(exec_error);
  ::syscall(SYS_close_range, kFirstKept, ~0U, kCloseOnExec);
  if (prepared.folder != nullptr && ::chdir(prepared.folder) != 0) give_up(exec_error);
  ::execve(prepared.file, prepared.words, prepared.environment);
  give_up(exec_error);
}

// A file in memory: whoever reads it slowly or never keeps nobody waiting.
FileDescriptor input_of(const ProgramRequest& request) {
  const std::string& bytes = request.input;
  if (!request.input_path.empty())
    return FileDescriptor(::open(request.input_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (bytes.empty()) return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  FileDescriptor file(::memfd_create("input", MFD_CLOEXEC));
  std::size_t done = 0;
  while (file.valid() && done < bytes.size()) {
    const ssize_t written = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return FileDescriptor();
    done += static_cast<std::size_t>(written);
  }
  if (file.valid() && ::lseek(file.get(), 0, SEEK_SET) != 0) return FileDescriptor();
  return file;
}

struct Pipe {
  FileDescriptor read_end, write_end;

  bool make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
    return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

base::Result<StartedProgram> cannot_start(const std::string& file) {
  return base::fail(base::ErrorCode::kIo, file + " could not be started: " + std::strerror(errno));
}

}  // namespace

std::vector<std::string> program_environment(const ProgramRequest& request) {
  std::vector<std::string> out;
  if (request.environment.empty()) {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("LC_ALL=")) out.emplace_back(*variable);
    }
  } else {
    for (const auto& [name, value] : request.environment) {
      if (name != kLocale) out.push_back(name + "=" + value);
    }
  }
  out.push_back(std::string(kLocale) + "=C");
  return out;
}

base::Result<StartedProgram> start_program(const std::string& file, const ProgramRequest& request) {
  Pipe output, errors, exec_error;
  const FileDescriptor input = input_of(request);
  if (!input.valid() || !output.make() || !errors.make() || !exec_error.make()) return cannot_start(file);
  std::vector<std::string> words = request.words;
  std::vector<std::string> environment = program_environment(request);
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> environment_pointers = pointers(environment);
  const Prepared prepared{file.c_str(),
                          word_pointers.data(),
                          environment_pointers.data(),
                          request.folder.empty() ? nullptr : request.folder.c_str(),
                          input.get(),
                          output.write_end.get(),
                          errors.write_end.get(),
                          exec_error.write_end.get()};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(prepared);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (pid < 0) return cannot_start(file);
  StartedProgram started;
  started.pid = pid;
  started.output = std::move(output.read_end);
  started.errors = std::move(errors.read_end);
  started.exec_error = std::move(exec_error.read_end);
  return started;
}

}  // namespace unhang::os
