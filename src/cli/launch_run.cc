// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/redaction.h"
#include "base/throughput_text.h"
#include "cli/launch_look.h"
#include "cli/load_case.h"
#include "cli/nccl_log_watch.h"
#include "detect/launch_stage.h"
#include "detect/resolve.h"
#include "os/child_job.h"
#include "os/oom_kills.h"
#include "os/output_copy.h"
#include "os/private_file.h"
#include "os/terminal_settings.h"

namespace unhang::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookAtLogs{250}, kWithoutHandle{20};
// All is over so long after the look's time: what the look took longer, the ending has less. Of the ending a
// part is for those that end in order; who has not by then is killed.
constexpr milliseconds kAfterLook{900}, kReading{250};
constexpr milliseconds kLongestEnding{600}, kShortestEnding{150}, kOutputStands{200};
constexpr int kGraceParts = 3, kGrace = 2;
// Of the look's time, for closing its bundle.
constexpr milliseconds kLookSpare{150};
constexpr std::size_t kMostLeft = 16;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}
std::optional<double> seconds_until(Clock::time_point from, const std::optional<Clock::time_point>& to) {
  return to ? std::optional(seconds_between(from, *to)) : std::nullopt;
}

// The last line that says something, without secrets.
std::string last_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return {};
    text = text.substr(0, end + 1);
    const std::size_t begin = text.find_last_of("\r\n") + 1;  // npos + 1 is 0
    constexpr std::size_t kMost = 200;
    return base::printable(base::redact_line(text.substr(begin, kMost)));
  }
  return {};
}

std::string redacted(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    out += base::may_hold_secret(line) ? base::redact_line(line) : std::string(line);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string process_words(const os::Descendant& process) {
  return fmt::format("{} {} ({})", process.pid, base::printable(process.name), process.state);
}

class Launch {
 public:
  Launch(const LaunchPlan& plan, os::SignalRelay& relay, std::unique_ptr<os::OutputCopy> out,
         std::unique_ptr<os::OutputCopy> err)
      : x_plan(plan), x_relay(relay), x_log(plan.nccl_log), x_out(std::move(out)), x_err(std::move(err)) {}

  base::Result<WatchedLaunch> run() {
    x_oom_kills = os::count_oom_kills();
    x_start = Clock::now();
    auto job = os::ChildJob::start({.words = x_plan.words,
                                    .environment = x_plan.environment,
                                    .identity = x_plan.identity,
                                    .own_session = true,
                                    .output = x_out->child_end(),
                                    .errors = (x_err ? x_err : x_out)->child_end()});
    if (!job) return base::fail(std::move(job.error()));
    x_job = std::move(*job);
    x_handle =
        os::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(x_job->pid()), 0)));
    x_out->start();
    if (x_err) x_err->start();
    watch();
    look();
    end();
    keep_output();
    return judge();
  }

 private:
  bool logs_are_ours() const { return x_plan.nccl_log.starts_with(x_plan.folder + "/"); }

  // Until the program ends, the time is over or somebody wants it to stop.
  void watch() {
    const auto limit = x_start + x_plan.limit;
    auto next_look = x_start;
    for (;;) {
      if (Clock::now() >= next_look) {
        x_log.look(Clock::now());
        next_look = Clock::now() + kLookAtLogs;
      }
      for (const int number : x_relay.take()) on_signal(number);
      x_end = x_job->reap();
      const auto now = Clock::now();
      if (x_end || x_facts.interrupted_by != 0 || now >= limit) break;
      auto rest = std::min(next_look, limit) - now;
      if (!x_handle.valid()) rest = std::min<Clock::duration>(rest, kWithoutHandle);
      wait(std::chrono::ceil<milliseconds>(std::max(rest, Clock::duration::zero())));
    }
    x_log.look(Clock::now());
    x_facts.ended = x_end.has_value();
    if (x_end) {
      x_facts.exit_code = x_end->code;
      x_facts.signal = x_end->signal;
    }
  }
  void wait(milliseconds time) const {
    std::array<pollfd, 2> fds{{{x_relay.fd(), POLLIN, 0}, {x_handle.get(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>(time.count()));
  }
  void on_signal(int number) {
    switch (number) {
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
        x_facts.interrupted_by = number;
        break;
      case SIGWINCH:
        x_out->take_window_size();
        if (x_err) x_err->take_window_size();
        x_job->signal_group(number);
        break;
      default:
        x_job->signal_group(number);
    }
  }

  void look() {
    const auto now = x_looked_at = Clock::now();
    x_facts.limit_s = std::chrono::duration<double>(x_plan.limit).count();
    x_facts.ran_s = seconds_between(x_start, now);
    std::optional<Clock::time_point> printed = x_out->last_output();
    if (x_err && x_err->last_output()) printed = std::max(printed.value_or(x_start), *x_err->last_output());
    if (printed) x_facts.silent_s = seconds_between(*printed, now);
    x_facts.nccl_began_s = seconds_until(x_start, x_log.began);
    x_facts.nccl_ready_s = seconds_until(x_start, x_log.ready);
    x_facts.first_call_s = seconds_until(x_start, x_log.first_call);
    if (x_log.last_line) x_facts.nccl_quiet_s = seconds_between(*x_log.last_line, now);
    const auto processes = x_job->processes();
    x_facts.processes = processes.size();
    // Nothing is left to look at, and nothing went wrong.
    if (x_end && x_end->exit_status() == 0) return;
    LookRequest request;
    request.folder = x_plan.folder + "/look";
    request.budget = std::max<std::chrono::nanoseconds>(x_plan.look - kLookSpare, milliseconds(100));
    request.environment = x_plan.environment;
    for (const os::Descendant& process : processes) request.pids.push_back(process.pid);
    request.command = command_facts(x_job->pid(), x_start, x_end, x_oom_kills);
    request.once = request.pids.empty();
    if (request.pids.empty()) request.pids.push_back(x_job->pid());  // gone: then nobody else's are taken
    request.ask_ras = x_plan.ask_ras;
    request.trigger_dumps = !x_end;
    if (logs_are_ours()) request.without.emplace_back("nccl-logs");  // they lie here already
    request.wake_fd = x_relay.fd();
    if (const auto looked = take_look(request); !looked) {
      x_facts.notes.push_back(looked.error().message);
    } else {
      x_logs_captured = !logs_are_ours();
    }
  }

  void end() {
    const std::size_t running = x_job->processes().size();
    if (x_end && running > 0)
      x_facts.notes.push_back(fmt::format("{} {} it left behind, ended now", running,
                                          running == 1 ? "process that" : "processes that"));
    const bool in_a_hurry = x_facts.interrupted_by != 0 && !x_relay.take().empty();
    const auto over = x_looked_at + x_plan.look + kAfterLook - kReading - kOutputStands;
    const auto at_most =
        std::clamp(std::chrono::floor<milliseconds>(over - Clock::now()), kShortestEnding, kLongestEnding);
    const os::JobEnd ended =
        x_job->end_all(in_a_hurry ? milliseconds(0) : at_most * kGrace / kGraceParts, at_most);
    x_terminal.restore();
    x_facts.killed = ended.killed;
    for (const os::Descendant& process : ended.left) {
      if (x_facts.left.size() < kMostLeft) x_facts.left.push_back(process_words(process));
    }
    // What has ended by itself has printed all that it wanted to, and a pager may take its time to take it.
    // Who was ended at the limit shall not hold us up.
    const bool whole = x_end && ended.left.empty();
    const auto stands = whole ? std::nullopt : std::optional(kOutputStands / 2);
    bool all = x_out->drain(stands, x_relay.fd());
    if (x_err) all = x_err->drain(stands, x_relay.fd()) && all;
    if (!all) x_facts.notes.push_back("not all of its output could be passed on: nobody took it");
  }

  // For whoever diagnoses: its output is evidence, too.
  void keep_output() {
    std::string tail;
    for (const auto* copy : {&x_out, &x_err}) {
      if (*copy == nullptr) continue;
      x_facts.output_bytes += (*copy)->bytes();
      const os::OutputCopy::Kept kept = (*copy)->kept();
      const std::string& end = kept.tail.empty() ? kept.head : kept.tail;
      if (copy == &x_out || x_facts.last_line.empty()) x_facts.last_line = last_line(end);
      if (const auto speed = base::last_throughput(end); speed && !x_facts.throughput) {
        x_facts.throughput = speed->value;
        x_facts.throughput_unit = speed->unit;
      }
      if (kept.head.empty()) continue;
      std::string text = redacted(kept.head);
      if (kept.left_out > 0) text += fmt::format("\n({} bytes are left out here)\n", kept.left_out);
      text += redacted(kept.tail);
      const std::string name = copy == &x_out ? "/stdout.log" : "/stderr.log";
      if (const auto written = os::write_private_file(x_plan.folder + name, text); !written)
        x_facts.notes.push_back(written.error().message);
    }
  }

  WatchedLaunch judge() {
    WatchedLaunch out;
    std::vector<std::string> paths{x_plan.folder};
    for (const std::string& file : x_log.files()) {
      if (!logs_are_ours() && !x_logs_captured) paths.push_back(file);
    }
    // Never worth the time that a limit promises: what is read is what one launch wrote.
    if (auto joined = load_case(paths, {})) {
      out.evidence = std::move(*joined);
      out.verdict = detect::diagnose(*out.evidence);
    }
    out.run.folder = x_plan.folder;
    out.run.readable = out.evidence.has_value();
    out.run.stage = detect::judge_launch(out.evidence ? &*out.evidence : nullptr, x_facts);
    out.run.facts = std::move(x_facts);
    return out;
  }

  const os::TerminalSettings x_terminal;  // as it was before the command
  const LaunchPlan& x_plan;
  os::SignalRelay& x_relay;
  NcclLogWatch x_log;
  std::unique_ptr<os::OutputCopy> x_out, x_err;
  std::unique_ptr<os::ChildJob> x_job;
  os::FileDescriptor x_handle;  // readable when the program has ended
  Clock::time_point x_start, x_looked_at;
  std::optional<os::ChildEnd> x_end;
  std::optional<std::int64_t> x_oom_kills;  // before it was started
  bool x_logs_captured = false;
  model::LaunchFacts x_facts;
};

// The first folder above `path` that this user may not pass through; empty: it can.
std::string closed_to(const std::string& path, const os::ProcessIdentity& identity) {
  if (identity.user == 0 || identity.user == ::geteuid()) return {};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    std::string above = path.substr(0, slash);
    struct stat status {};
    if (::stat(above.c_str(), &status) != 0) continue;
    const bool is_of_group =
        status.st_gid == identity.group ||
        std::find(identity.groups.begin(), identity.groups.end(), status.st_gid) != identity.groups.end();
    const mode_t wanted = status.st_uid == identity.user ? S_IXUSR : is_of_group ? S_IXGRP : S_IXOTH;
    if ((status.st_mode & wanted) == 0) return above;
  }
  return {};
}

bool is_same_file(int a, int b) {
  struct stat of_a {
  }, of_b{};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

}  // namespace

os::SignalRelay launch_signals() {
  return os::SignalRelay{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};
}

base::Result<> give_folder(const std::string& path, const os::ProcessIdentity& identity) {
  if (const std::string closed = closed_to(path, identity); !closed.empty())
    return base::fail(
        base::ErrorCode::kUsage,
        fmt::format("user {} cannot pass through {}; give a folder that it can reach with --folder",
                    identity.user, closed));
  if (identity.user == ::geteuid() || ::chown(path.c_str(), identity.user, identity.group) == 0) return {};
  return base::fail(base::ErrorCode::kUsage, path + ": cannot be given to user " +
                                                 std::to_string(identity.user) + ": " + std::strerror(errno) +
                                                 "; run as root");
}

base::Result<> make_launch_folder(const std::string& path,
                                  const std::optional<os::ProcessIdentity>& identity) {
  for (const std::string& folder : {path, path + "/pipes"}) {
    auto made = os::make_private_folder(folder);
    if (made && identity) made = give_folder(folder, *identity);
    if (!made) return made;
  }
  return {};
}

base::Result<WatchedLaunch> launch(const LaunchPlan& plan, os::SignalRelay& relay) {
  auto out = os::OutputCopy::make(plan.output);
  if (!out) return base::fail(std::move(out.error()));
  std::unique_ptr<os::OutputCopy> err;
  // Where both go to the same place they share a pipe, so that their order stays.
  if (!is_same_file(plan.output, plan.errors)) {
    auto made = os::OutputCopy::make(plan.errors);
    if (!made) return base::fail(std::move(made.error()));
    err = std::move(*made);
  }
  return Launch(plan, relay, std::move(*out), std::move(err)).run();
}

}  // namespace unhang::cli
