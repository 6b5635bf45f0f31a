// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/env_line.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/launch_look.h"
#include "os/child_job.h"
#include "os/file_descriptor.h"
#include "os/oom_kills.h"
#include "os/signal_relay.h"

extern char** environ;  // NOLINT: POSIX wants it declared so

namespace unhang::cli {
namespace {

constexpr int kCannotRun = 126, kNotThere = 127;  // as shells and env(1) have it

class RunCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "run",
        .group = "Look at a live job",
        .summary = "container entrypoint that captures when CMD dies",
        .description =
            "Runs the command as an entrypoint does: its input and output are ours, signals are passed on to "
            "it, orphans are waited for, and its exit status is kept (128 plus the signal where one killed "
            "it). As the first process of a container nothing else is needed (no tini).\n\n"
            "When the command fails or is killed from inside (a crash, the OOM killer), the evidence that is "
            "left is captured before we end: a preStop hook does not run then. When it ends well, or because "
            "it was told to, nothing is captured and no time is lost.",
        .positional = {.placeholder = "CMD…",
                       .help = "the command and its arguments, behind --",
                       .minimum = 1,
                       .behind_dashes = true},
        .flags = {{.name = "--folder",
                   .value = "DIR",
                   .help = "where to capture to: new or empty; default: unhang-run-N here",
                   .target = &x_folder,
                   .is_path = true},
                  {.name = "--budget",
                   .value = "TIME",
                   .help = "how long the capture may take",
                   .target = &x_budget},
                  {.name = "--capture-on-term",
                   .help = "told to end (SIGTERM), capture first and pass it on then: the budget must "
                           "fit into the grace period",
                   .target = &x_capture_on_term}},
        .examples = {{"unhang run --folder /var/crash/$HOSTNAME -- vllm serve MODEL",
                      "In a container's command: evidence of a crash goes to a volume."}},
        .exit_notes = {{0, "the command's own exit status, whatever it is"},
                       {kCannotRun, "the command cannot be run"},
                       {kNotThere, "there is no such command"},
                       {128, "plus the signal that killed the command"}}};
  }

  int run(const std::vector<std::string>& command, Streams& streams) override {
    if (x_budget < std::chrono::milliseconds(100))
      return complain(streams, {base::ErrorCode::kUsage, "--budget: less than 100ms is no time at all"});
    std::optional<os::SignalRelay> relay;
    const auto listen = [&relay] {
      std::vector<int> signals = os::signals_to_pass_on();
      signals.push_back(SIGCHLD);
      relay.emplace(signals);
    };
    listen();
    os::ChildJobRequest request{.words = command, .environment = {}, .identity = {}, .own_session = false};
    for (char** entry = environ; *entry != nullptr; ++entry) request.environment.emplace_back(*entry);
    x_oom_kills = os::count_oom_kills();
    x_start = std::chrono::steady_clock::now();
    auto job = os::ChildJob::start(request);
    if (!job) {
      const int code = complain(streams, job.error());
      if (job.error().code == base::ErrorCode::kNoInput) return kNotThere;
      return job.error().code == base::ErrorCode::kUsage ? kCannotRun : code;
    }
    std::optional<os::ChildEnd> end = wait(**job, *relay);
    if (!end) {  // told to end, and to look first: afterwards it may be gone
      relay.reset();
      look(**job, {}, "is told to end", request.environment, streams);
      listen();
      (*job)->signal(SIGTERM);
      while (!end) end = wait(**job, *relay);
    }
    relay.reset();
    if (end->exit_status() != 0 && !x_told) {
      const std::string how = end->signal != 0 ? fmt::format("was killed by signal {}", end->signal)
                                               : fmt::format("ended with status {}", end->code);
      look(**job, end, how, request.environment, streams);
    }
    return end->exit_status();
  }

 private:
  // Until the command has ended, or (once) until it is to be looked at before it is told to end: nullopt.
  std::optional<os::ChildEnd> wait(os::ChildJob& job, os::SignalRelay& relay) {
    // SIGCHLD wakes for orphans; the limit is for systems without descriptors left.
    constexpr int kWakeMs = 1000;
    for (;;) {
      if (const auto end = job.reap()) return *end;
      pollfd wake{relay.fd(), POLLIN, 0};
      ::poll(&wake, 1, kWakeMs);
      for (const int number : relay.take()) {
        if (number == SIGCHLD) continue;
        if (has_it_already(number)) {
          // The command stops with the rest of the terminal's foreground, and so do we: the shell waits for
          // us.
          if (number == SIGTSTP) ::raise(SIGSTOP);
          continue;
        }
        const bool first =
            !std::exchange(x_told, x_told || number == SIGTERM || number == SIGINT || number == SIGQUIT);
        if (first && number == SIGTERM && x_capture_on_term) return std::nullopt;
        job.signal(number);
      }
    }
  }

  // What a terminal sends goes to everybody in its foreground.
  bool has_it_already(int number) {
    if (number != SIGINT && number != SIGQUIT && number != SIGWINCH && number != SIGTSTP) return false;
    if (::isatty(STDIN_FILENO) != 1 || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return false;
    x_told = x_told || number == SIGINT || number == SIGQUIT;
    return true;
  }

  void look(const os::ChildJob& job, const std::optional<os::ChildEnd>& end, const std::string& how,
            const std::vector<std::string>& environment, Streams& streams) {
    // Without SIGCHLD: the capture has children of its own. Whoever ends us now ends the capture.
    const os::SignalRelay relay{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    LookRequest request;
    request.folder = x_folder.empty() ? free_folder("unhang-run") : x_folder;
    request.budget = x_budget;
    request.environment = environment;
    request.wake_fd = relay.fd();
    request.labels = {{"command", how}};
    request.command = command_facts(job.pid(), x_start, end, x_oom_kills);
    for (const os::Descendant& process : job.processes()) request.pids.push_back(process.pid);
    request.once = request.pids.empty();
    if (request.pids.empty()) request.pids.push_back(job.pid());
    say(streams,
        fmt::format("the command {}; capturing what is left to {}", how, base::printable(request.folder)));
    if (const auto looked = take_look(request); !looked) {
      complain(streams, looked.error());
    } else {
      streams.err.write("unhang: next: unhang diagnose " + base::shell_quoted(request.folder) + "\n");
    }
  }

  std::string x_folder;
  std::chrono::nanoseconds x_budget = std::chrono::seconds(25);
  bool x_capture_on_term = false;
  bool x_told = false;  // to end, by a signal
  std::chrono::steady_clock::time_point x_start;
  std::optional<std::int64_t> x_oom_kills;  // before the command was started
};

}  // namespace

std::unique_ptr<CommandBase> make_run_command() {
  return std::make_unique<RunCommand>();
}

}  // namespace unhang::cli
