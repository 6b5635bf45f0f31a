// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "base/env_line.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/launch_look.h"
#include "cli/load_case.h"
#include "detect/resolve.h"
#include "os/descendants.h"
#include "os/interrupt.h"
#include "os/line_pattern.h"
#include "os/process_table.h"
#include "report/json.h"
#include "report/process_list.h"
#include "report/terminal.h"

namespace unhang::cli {
namespace {

constexpr std::size_t kLongestCommandLine = 4096;  // a pattern is matched against no more

std::string command_line_of(const os::Process& process) {
  std::string line;
  for (const std::string& word : process.command_line) {
    if (line.size() > kLongestCommandLine) break;
    line += (line.empty() ? "" : " ") + word;
  }
  return line.substr(0, kLongestCommandLine);
}

class AttachCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "attach",
        .group = "Look at a live job",
        .summary = "look at a running job without restarting it",
        .description =
            "Looks at a process and everything below it: which ranks they are, how the kernel has them, "
            "where "
            "their threads stand, what RAS and the engine say, the dumps that are there, the kernel's log, "
            "GPUs and NICs. Then gives the verdict of `unhang diagnose` on it. What was seen is kept as a "
            "bundle.\n\n"
            "Nothing of the job is changed, unless you ask for new dumps (--trigger-dump). Where gdb is used "
            "for native stacks, it stops a process for the "
            "moment that it takes (--no-gdb: not at all). PID may also be the number that a process has "
            "inside "
            "its container. Processes of other users need root or CAP_SYS_PTRACE; without it the kernel "
            "shows "
            "less, and the verdict says what was not seen.",
        .positional = {.placeholder = "PID", .help = "a process of the job: its launcher, or a worker"},
        .flags = {{.name = "--match",
                   .value = "REGEX",
                   .help = "instead of PID: all processes whose command line matches",
                   .target = &x_match},
                  {.name = "--folder",
                   .value = "DIR",
                   .help = "where the evidence is kept: new or empty; default: unhang-attach-N here",
                   .target = &x_folder,
                   .is_path = true},
                  {.name = "--budget", .value = "TIME", .help = "how long it may take", .target = &x_budget},
                  {.name = "--no-gdb", .help = "no native stacks: nothing is stopped", .target = &x_no_gdb},
                  {.name = "--trigger-dump",
                   .help = "let the workers write new Flight Recorder dumps, where they have a FIFO for it: "
                           "this makes the job do something",
                   .target = &x_trigger},
                  {.name = "--engine",
                   .value = "URL",
                   .help = "an inference engine: its /metrics and /health; may be given several times",
                   .target = &x_engines},
                  {.name = "--verbose",
                   .short_name = "-v",
                   .help = "findings, alternatives, coverage and the variables of each process too",
                   .target = &x_verbosity,
                   .group = "Output"},
                  {.name = "--json",
                   .help = "the verdict as JSON (schema unhang.verdict/1)",
                   .target = &x_json,
                   .group = "Output"},
                  {.name = "--proc",
                   .value = "DIR",
                   .help = "another /proc",
                   .target = &x_proc,
                   .is_path = true,
                   .hidden = true}},
        .examples = {{"unhang attach 4242", "The job that process 4242 started."},
                     {"unhang attach --match 'vllm.*serve'", "Every process of an engine on this machine."}},
        .gives_verdict = true};
  }

  int run(const std::vector<std::string>& words, Streams& streams) override {
    auto pids = chosen(words);
    if (!pids) return complain(streams, pids.error());
    auto request = request_for(std::move(*pids));
    if (!request) return complain(streams, request.error());
    const os::Interrupt interrupt;
    request->wake_fd = interrupt.fd();
    streams.err.write(fmt::format(
        "unhang: looking at {} for at most {} s\n",
        request->pids.size() == 1 ? "1 process" : fmt::format("{} processes", request->pids.size()),
        std::chrono::ceil<std::chrono::seconds>(x_budget).count()));
    const auto look = take_look(*request);
    if (!look) return complain(streams, look.error());
    if (!look->trouble.empty()) complain(streams, {base::ErrorCode::kIo, look->trouble});
    return judge(request->folder, streams);
  }

 private:
  // The process, and all below it; those that match, and all below them.
  base::Result<std::vector<std::int64_t>> chosen(const std::vector<std::string>& words) {
    const auto usage = [](std::string text) { return base::fail(base::ErrorCode::kUsage, std::move(text)); };
    if (words.size() > 1) return usage("give one PID, or --match REGEX for several");
    if (words.empty() && x_match.empty()) return usage("which job? Give a PID or --match REGEX");
    if (!words.empty() && !x_match.empty()) return usage("give a PID or --match REGEX, not both");
    auto table = os::read_process_table({.proc = x_proc});
    if (!table) return base::fail(std::move(table.error()));
    std::vector<std::int64_t> roots;
    if (!words.empty()) {
      char* end = nullptr;
      const long long pid = std::strtoll(words[0].c_str(), &end, 10);
      if (words[0].empty() || *end != '\0' || pid <= 0) return usage("'" + words[0] + "' is no process id");
      auto found = by_number(*table, pid);
      if (!found) return base::fail(std::move(found.error()));
      roots.push_back(*found);
    } else {
      auto found = by_pattern(*table);
      if (!found) return base::fail(std::move(found.error()));
      roots = std::move(*found);
    }
    std::vector<std::int64_t> pids = roots;
    for (const std::int64_t root : roots) {
      for (const os::Descendant& below : os::descendants_of(root, x_proc)) {
        if (below.has_ended()) {
          x_dead.push_back(below);
        } else {
          pids.push_back(below.pid);
        }
      }
    }
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
  }

  static base::Result<std::int64_t> by_number(const os::ProcessTable& table, std::int64_t pid) {
    std::vector<std::int64_t> inside;  // that have this number in their container
    for (const os::Process& process : table.processes) {
      if (process.pid == pid) return pid;
      if (process.namespace_pids.size() > 1 && process.namespace_pids.back() == pid)
        inside.push_back(process.pid);
    }
    if (inside.size() == 1) return inside.front();
    if (inside.empty())
      return base::fail(
          base::ErrorCode::kNoInput,
          fmt::format("there is no process {} here; `unhang attach --match REGEX` looks for it", pid));
    std::string list;
    for (const std::int64_t each : inside) list += (list.empty() ? "" : ", ") + std::to_string(each);
    return base::fail(
        base::ErrorCode::kUsage,
        fmt::format("{} is the number of several processes in their containers: give one of {}", pid, list));
  }

  base::Result<std::vector<std::int64_t>> by_pattern(const os::ProcessTable& table) const {
    std::vector<std::int64_t> found;
    const auto pattern = os::LinePattern::compile(x_match);
    if (!pattern) return base::fail(std::move(base::Error(pattern.error()).with("--match")));
    for (const os::Process& process : table.processes) {
      const std::string line = command_line_of(process);
      const bool ourselves = line.find("attach --match") != line.npos;
      if (!ourselves && !line.empty() && (*pattern)->matches(line)) found.push_back(process.pid);
    }
    if (found.empty())
      return base::fail(base::ErrorCode::kNoInput, "no process has a command line that matches " + x_match);
    return found;
  }

  base::Result<LookRequest> request_for(std::vector<std::int64_t> pids) {
    if (x_budget < std::chrono::milliseconds(100))
      return base::fail(base::ErrorCode::kUsage, "--budget: less than 100ms is no time at all");
    x_shown_folder = x_folder.empty() ? free_folder("unhang-attach") : x_folder;
    auto folder = absolute_path(x_shown_folder);
    if (!folder) return base::fail(std::move(folder.error()));
    LookRequest request;
    request.folder = std::move(*folder);
    request.budget = x_budget;
    request.pids = std::move(pids);
    request.engines = x_engines;
    request.native_stacks = !x_no_gdb;
    request.trigger_dumps = x_trigger;
    request.proc = x_proc;
    for (char** entry = environ; *entry != nullptr; ++entry) request.environment.emplace_back(*entry);
    return request;
  }

  int judge(const std::string& folder, Streams& streams) const {
    LoadOptions load;
    load.complaints = &streams.err;
    const auto joined = load_case({folder}, load);
    if (!joined) return complain(streams, joined.error());
    const model::Verdict verdict = detect::diagnose(*joined);
    if (x_json) {
      streams.out.write(report::render_json(verdict, joined->inputs, joined->set_aside));
    } else {
      streams.out.write(report::render_terminal(verdict, {.width = streams.width,
                                                          .color = streams.color,
                                                          .verbosity = x_verbosity,
                                                          .full_stacks = false,
                                                          .evidence = &*joined}));
      const std::string processes = report::render_processes(
          *joined, {.width = streams.width, .color = streams.color, .environment = x_verbosity > 0});
      if (!processes.empty()) streams.out.write("\nprocesses\n" + processes);
      for (const os::Descendant& dead : x_dead) {
        streams.out.write(fmt::format("  dead: {} ({}), child of {}, not yet noticed: was it a rank?\n",
                                      dead.pid, base::printable(dead.name), dead.parent));
      }
    }
    const std::string shown = base::shell_quoted(x_shown_folder);
    streams.err.write("unhang: kept in " + shown + "\n" + "unhang: again: unhang diagnose -v " + shown +
                      "\n" + "unhang: stacks: unhang stacks " + shown + "\n");
    return model::exit_code(verdict);
  }

  std::string x_match, x_folder;
  std::string x_shown_folder;          // as it was given: short enough for a line
  std::vector<os::Descendant> x_dead;  // below the job, ended, and not yet taken note of by their parents
  std::chrono::nanoseconds x_budget = std::chrono::seconds(10);
  bool x_no_gdb = false, x_trigger = false;
  std::vector<std::string> x_engines;
  int x_verbosity = 0;
  bool x_json = false;
  std::string x_proc = "/proc";
};

}  // namespace

std::unique_ptr<CommandBase> make_attach_command() {
  return std::make_unique<AttachCommand>();
}

}  // namespace unhang::cli
