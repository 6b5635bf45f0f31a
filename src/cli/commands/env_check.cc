// SPDX-License-Identifier: Apache-2.0
#include "checks/env_check.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "cli/check_exit.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/software_flags.h"
#include "collect/dump_places.h"
#include "collect/nccl_release.h"
#include "os/byte_source.h"
#include "os/file_descriptor.h"
#include "report/checks_json.h"
#include "report/checks_screen.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;

constexpr std::size_t kMostBytes = 32 << 20;  // a list of a thousand pods fits
constexpr std::chrono::seconds kProcPatience{10};

// What a shell makes of <(command): whoever writes is there.
bool is_handed_over(const std::string& path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") || path == "/dev/stdin";
}

base::Result<std::string> read_whole(const std::string& path) {
  const bool is_stdin = path == "-";
  // Not to wait for whoever writes into a FIFO: it is told apart below.
  const os::FileDescriptor opened(
      is_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  const std::string shown = is_stdin ? "standard input" : base::printable(path);
  if (!is_stdin && !opened.valid())
    return base::fail(ErrorCode::kNoInput, shown + ": " + std::strerror(errno));
  struct stat status {};
  if (!is_stdin && ::fstat(opened.get(), &status) == 0 && S_ISDIR(status.st_mode))
    return base::fail(ErrorCode::kNoInput, shown + " is a folder: name one file of it");
  if (!is_stdin && !S_ISREG(status.st_mode)) {
    if (!is_handed_over(path)) {
      return base::fail(ErrorCode::kNoInput, shown +
                                                 " is no regular file, and reading it could wait for ever: "
                                                 "to read what comes through a pipe, unhang env check - <" +
                                                 shown);
    }
    ::fcntl(opened.get(), F_SETFL, 0);
  }
  os::FileSource source(is_stdin ? STDIN_FILENO : opened.get());
  std::string text;
  while (true) {
    const std::string_view block = source.next();
    if (block.empty()) break;
    text += block;
    if (text.size() > kMostBytes)
      return base::fail(ErrorCode::kData, shown + ": larger than 32 MiB, that is no file of variables");
  }
  if (source.stop()) return base::fail(ErrorCode::kNoInput, shown + " cannot be read");
  return text;
}

class EnvCheckCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "env check",
        .group = "Prepare a job",
        .summary = "find mistakes in the variables of a job",
        .description =
            "Reads variables from a file (NAME=VALUE, export lines, systemd units, docker --env-file, "
            "/proc/PID/environ), from a spec (a pod, deployment, LeaderWorkerSet, config map or compose file "
            "in YAML; kubectl get -o json), or of a running process and its workers, and says what will not "
            "work as meant, why, and the line that mends it.\n\n"
            "Nothing is executed: a value that a shell would make is not judged. Only variables of NCCL, "
            "PyTorch's distributed package and engines are looked at and shown, never keys or tokens.\n\n"
            "Names and defaults depend on the releases: say them with --nccl-version and --torch-version. Of "
            "a process, NCCL's is taken from the library that it has loaded.",
        .positional = {.placeholder = "FILE",
                       .help = "the file; - is standard input",
                       .maximum = 1,
                       .is_path = true},
        .flags = {{.name = "--pid",
                   .value = "PID",
                   .help = "a running process, compared with the processes below it",
                   .target = &x_pid,
                   .minimum = 1},
                  {.name = "--collective-timeout",
                   .value = "DURATION",
                   .help = "the time limit of the process groups (init_process_group(timeout=…))",
                   .target = &x_timeout},
                  {.name = "--verbose",
                   .short_name = "-v",
                   .help = "also what passed",
                   .target = &x_verbose,
                   .group = "Output"},
                  {.name = "--json",
                   .help = "as JSON (schema unhang.env_check/1)",
                   .target = &x_json,
                   .group = "Output"},
                  {.name = "--proc",
                   .value = "FOLDER",
                   .help = "instead of /proc (tests)",
                   .target = &x_proc,
                   .is_path = true,
                   .hidden = true}},
        .examples = {{"unhang env check job.env", "Before the job is started."},
                     {"kubectl get pod vllm-0 -o json | unhang env check -", "What a pod has."},
                     {"unhang env check --pid 4711", "Whether the workers got what the launcher has."}},
        .exit_notes = {{kExitOk, "every rule passed"},
                       {kExitSlow, "there are warnings"},
                       {kExitStopped, "something does not work as meant"}},
        .gives_verdict = true};
    for (Flag& flag : software_flags(x_software)) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>& arguments, Streams& streams) override {
    const auto software = software_of(x_software);
    if (!software) return complain(streams, software.error());
    checks::EnvCheckOptions options{.software = *software, .collective_timeout = x_timeout};
    if (arguments.empty() == !x_pid.has_value())
      return complain(streams, {ErrorCode::kUsage, "name one file, or a process with --pid"});
    const auto report = x_pid ? of_process(options) : of_file(arguments.front(), options);
    if (!report) return complain(streams, report.error());
    streams.out.write(
        x_json ? report::checks_json(*report, "unhang.env_check/1")
               : report::render_checks(
                     *report, {.width = streams.width, .color = streams.color, .verbose = x_verbose}));
    return exit_code_of(report->worst());
  }

 private:
  static base::Result<model::CheckReport> of_file(const std::string& path,
                                                  const checks::EnvCheckOptions& options) {
    const auto text = read_whole(path);
    if (!text) return base::fail(text.error());
    const std::string name = path == "-" ? "stdin" : base::printable(path.substr(path.rfind('/') + 1));
    const auto sources = checks::read_env_text(*text, name);
    if (!sources) return base::fail(sources.error());
    return checks::check_sources(*sources, name, options);
  }

  base::Result<model::CheckReport> of_process(checks::EnvCheckOptions options) const {
    const auto processes =
        checks::read_process_environments({.pid = *x_pid,
                                           .proc = x_proc,
                                           .library_names = collect::worker_libraries(),
                                           .end = std::chrono::steady_clock::now() + kProcPatience});
    if (!processes) return base::fail(processes.error());
    if (options.software.nccl_assumed) {
      for (const std::string& library : processes->libraries) {
        const auto release = collect::release_of_library_name(library);
        if (!release) continue;
        options.software.nccl = {release->major, release->minor, release->patch};
        options.software.nccl_assumed = false;
        break;
      }
    }
    return checks::check_processes(*processes, options);
  }

  SoftwareFlags x_software;
  std::optional<std::int64_t> x_pid;
  std::chrono::nanoseconds x_timeout = std::chrono::minutes(10);
  std::string x_proc = "/proc";
  bool x_verbose = false, x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_env_check_command() {
  return std::make_unique<EnvCheckCommand>();
}

}  // namespace unhang::cli
