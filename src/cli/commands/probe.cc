// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/printable.h"
#include "base/redaction.h"
#include "checks/probe_variables.h"
#include "cli/adopted_launch.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/launch_change.h"
#include "cli/launch_look.h"
#include "cli/launch_run.h"
#include "detect/launch_trials.h"
#include "os/private_file.h"
#include "os/write_file.h"
#include "report/launch_screen.h"

extern char** environ;  // NOLINT: POSIX wants it declared so

namespace unhang::cli {
namespace {

constexpr int kCannotRun = 126, kNotThere = 127;  // as shells and env(1) have it

// "--api-key" tells that the word behind it is one.
std::vector<std::string> without_secrets(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string alone = base::redact_line(command[i]);
    const std::string both = i == 0 ? command[i] : command[i - 1] + " " + command[i];
    const bool hidden_by_flag = i > 0 && command[i - 1].starts_with('-') && base::redact_line(both) != both &&
                                base::redact_line(command[i - 1]) == command[i - 1];
    shown.push_back(hidden_by_flag && alone == command[i] ? "(removed)" : alone);
  }
  return shown;
}

class ProbeCommand final : public CommandBase {
 public:
  Command describe() override {
    return {
        .name = "probe",
        .group = "Look at a live job",
        .summary = "run a launch under observation, say where it hangs",
        .description =
            "Runs the command with NCCL's log and PyTorch's recorder on, within a time limit, and says where "
            "it stands when the limit is over: before NCCL, in its initialisation, after it (weights, "
            "compilation), or in the first collective. Nothing else is changed: its output goes where it "
            "would go, and its exit status is kept when it ends by itself.\n\n"
            "At the limit, before anything is ended, its processes are looked at; then all that it started "
            "is "
            "ended: SIGTERM, and SIGKILL for what stays. Ctrl-C and SIGTERM do the same earlier.\n\n"
            "--try runs it again with one variable different, and prints what that changed. The report goes "
            "to standard error, where it does not mix with the command's output; the evidence of each run is "
            "kept in a folder, which 'unhang diagnose' reads.",
        .positional = {.placeholder = "CMD…",
                       .help = "the command and its arguments, behind --",
                       .minimum = 1,
                       .behind_dashes = true},
        .flags = flags(),
        .examples = {{"unhang probe --timeout 2m -- vllm serve MODEL -tp 8", "Where the server hangs."},
                     {"unhang probe --try NCCL_P2P_DISABLE=1 --try NCCL_SHM_DISABLE=1 -- ./job.sh",
                      "Two experiments, one variable each."},
                     {"unhang probe --suggest -- mpirun -np 2 ./all_reduce_perf -g 1",
                      "The experiments that would tell most about where it stood."},
                     {"unhang probe --as-unit vllm.service -- vllm serve MODEL",
                      "As the user, and with the limits and variables, of a service."}},
        .exit_notes = {
            {0, "at the limit it advanced or still printed; or the command ended by itself with 0"},
            {kExitStopped, "at the limit it stood in NCCL, or the evidence proves a fault"},
            {kExitUnknown, "at the limit it was silent, and nothing proves that it stood"},
            {kCannotRun, "the command cannot be run"},
            {kNotThere, "there is no such command"},
            {128, "plus the signal that ended the probe early (130: Ctrl-C), or the command"}}};
  }

  int run(const std::vector<std::string>& command, Streams& streams) override {
    auto prepared = prepare(command);
    if (!prepared) return complain(streams, prepared.error());
    os::SignalRelay relay = launch_signals();
    streams.err.write(fmt::format("unhang: watching for {}; evidence goes to {}\n",
                                  base::format_duration(x_timeout), base::printable(x_root)));
    auto base_run = launch_with(nullptr, relay);
    if (!base_run) return cannot_start(streams, base_run.error());
    x_report.verdict = base_run->verdict;
    x_report.base = std::move(base_run->run);
    if (base_run->evidence) add_notes(detect::set_anew(*base_run->evidence, x_report.set), "");
    if (x_suggest) suggest(*base_run, streams);
    run_trials(relay, streams);
    detect::conclude_trials(x_report);
    return finish(streams);
  }

 private:
  std::vector<Flag> flags() {
    return {
        {.name = "--timeout",
         .value = "TIME",
         .help = "how long it may run; a number alone is seconds",
         .target = &x_timeout,
         .plain_seconds = true},
        {.name = "--look",
         .value = "TIME",
         .help = "how long looking at its processes may take, after that",
         .target = &x_look},
        {.name = "--folder",
         .value = "DIR",
         .help = "folder for the evidence: new or empty; default: unhang-probe-N here",
         .target = &x_folder,
         .is_path = true},
        {.name = "--calls",
         .help = "NCCL logs every collective, too: the time of the first one; large logs",
         .target = &x_calls},
        {.name = "--json",
         .help = "the report as JSON on standard output (schema unhang.probe/1); the command's output then "
                 "goes to standard error",
         .target = &x_json},
        {.name = "--try",
         .value = "VAR=VALUE",
         .help = "run it again with this variable; may be given several times, each is a run of its own",
         .target = &x_try,
         .group = "Experiments"},
        {.name = "--try-arg",
         .value = "+ARG|-ARG",
         .help = "run it again with this argument added (+) or removed (-): --try-arg=+--enforce-eager",
         .target = &x_try_arguments,
         .group = "Experiments"},
        {.name = "--suggest",
         .help = "run the experiments that would tell most about where it stood, at most four",
         .target = &x_suggest,
         .group = "Experiments"},
        {.name = "--as-pid",
         .value = "PID",
         .help = "with user, groups, limits, environment and working folder of this process",
         .target = &x_pid,
         .minimum = 1,
         .group = "As another"},
        {.name = "--as-unit",
         .value = "NAME",
         .help = "the same of a systemd unit",
         .target = &x_unit,
         .group = "As another"}};
  }

  base::Result<> prepare(const std::vector<std::string>& command) {
    const auto usage = [](std::string text) { return base::fail(base::ErrorCode::kUsage, std::move(text)); };
    if (x_timeout < std::chrono::milliseconds(100))
      return usage("--timeout: less than 100ms is no time at all");
    if (x_look < std::chrono::milliseconds(100)) return usage("--look: less than 100ms is no time at all");
    if (x_pid && !x_unit.empty()) return usage("--as-pid and --as-unit exclude each other");
    for (const std::string& text : x_try) {
      auto change = parse_variable(text);
      if (!change) return base::fail(std::move(change.error()));
      x_changes.push_back(std::move(*change));
    }
    for (const std::string& text : x_try_arguments) {
      auto change = parse_argument(text, command);
      if (!change) return base::fail(std::move(change.error()));
      x_changes.push_back(std::move(*change));
    }
    x_plan.words = command;
    x_report.command = without_secrets(command);
    if (auto adopted = take_environment(); !adopted) return adopted;
    if (auto folder = take_folder(); !folder) return folder;
    x_plan.limit = x_timeout;
    x_plan.look = x_look;
    x_plan.ask_ras = !ras_is_taken(x_plan.environment);
    if (!x_plan.ask_ras)
      x_report.notes.push_back("RAS was not asked: another job of this machine listens on its port");
    for (const std::string& file : nccl_configuration(x_plan.environment))
      x_report.notes.push_back(file +
                               " sets variables inside the processes that the environment leaves open");
    if (x_json) x_plan.output = STDERR_FILENO;
    const auto torch = checks::find_torch(
        command, [this](std::string_view name) { return value_in(x_plan.environment, name); },
        std::chrono::steady_clock::now() + std::chrono::seconds(2));
    if (torch) x_torch = torch->release;
    return {};
  }

  base::Result<> take_environment() {
    if (!x_pid && x_unit.empty()) {
      for (char** entry = environ; *entry != nullptr; ++entry) x_plan.environment.emplace_back(*entry);
      return {};
    }
    auto adopted = x_pid ? adopt_process(*x_pid) : adopt_unit(x_unit);
    if (!adopted) return base::fail(std::move(adopted.error()));
    x_plan.environment = std::move(adopted->environment);
    x_plan.identity = std::move(adopted->identity);
    add_notes(adopted->notes, "");
    x_report.notes.push_back(
        "the environment is the one it was started with: what a program sets in itself later does not show; "
        "control group and namespaces are those of this shell");
    return {};
  }

  base::Result<> take_folder() {
    auto path = absolute_path(x_folder.empty() ? free_folder("unhang-probe") : x_folder);
    if (!path) return base::fail(std::move(path.error()));
    x_root = std::move(*path);
    auto made = os::make_private_folder(x_root);
    // Whom the command will run as has to get through it.
    if (made && x_plan.identity) made = give_folder(x_root, *x_plan.identity);
    if (!made && x_folder.empty())
      return base::fail(std::move(made.error()).with("give a folder with --folder DIR"));
    return made;
  }

  base::Result<WatchedLaunch> launch_with(const LaunchChange* change, os::SignalRelay& relay) {
    LaunchPlan plan = x_plan;
    plan.folder = x_root + (change == nullptr ? "/launch" : fmt::format("/trial-{}", ++x_trials));
    if (auto made = make_launch_folder(plan.folder, plan.identity); !made)
      return base::fail(std::move(made.error()));
    if (change != nullptr) apply(*change, plan.words, plan.environment);
    const auto variables =
        checks::probe_variables([&plan](std::string_view name) { return value_in(plan.environment, name); },
                                plan.folder, x_torch, x_calls);
    for (const auto& [name, value] : variables.set) set_in(plan.environment, name, value);
    plan.nccl_log = variables.nccl_log.empty() ? plan.folder + "/nccl.%h.%p.log" : variables.nccl_log;
    if (change == nullptr) {
      x_report.set = variables.set;
      add_notes(variables.notes, "");
    }
    auto launched = launch(plan, relay);
    if (launched && change != nullptr) launched->run.change = change->text;
    return launched;
  }

  void suggest(const WatchedLaunch& launched, Streams& streams) {
    constexpr std::size_t kMost = 4;
    std::string why_none;
    const auto ideas =
        detect::suggest_trials(launched.evidence ? &*launched.evidence : nullptr, x_report.base.stage,
                               launched.verdict ? &*launched.verdict : nullptr, kMost, &why_none);
    if (ideas.empty()) x_report.notes.push_back("no experiment is suggested: " + why_none);
    for (const detect::TrialIdea& idea : ideas) {
      streams.err.write("unhang: suggested: " + idea.change + ", " + idea.reason + "\n");
      if (auto change = parse_variable(idea.change)) x_changes.push_back(std::move(*change));
    }
  }

  void run_trials(os::SignalRelay& relay, Streams& streams) {
    for (std::size_t i = 0; i < x_changes.size() && x_interrupted == 0; ++i) {
      x_interrupted = x_report.base.facts.interrupted_by;
      if (x_interrupted != 0) return;
      const LaunchChange& change = x_changes[i];
      streams.err.write(
          fmt::format("unhang: trial {} of {}: {}\n", i + 1, x_changes.size(), base::printable(change.text)));
      auto tried = launch_with(&change, relay);
      if (!tried) {
        x_report.notes.push_back(change.text + ": " + tried.error().message);
        continue;
      }
      if (tried->evidence && change.kind == LaunchChange::kSet)
        add_notes(detect::set_anew(*tried->evidence, {{change.variable, change.value}}), change.text + ": ");
      x_interrupted = tried->run.facts.interrupted_by;
      std::string ruled_out;
      tried->run.outcome =
          x_interrupted != 0 ? "interrupted" : detect::trial_outcome(x_report.base, tried->run, &ruled_out);
      if (!ruled_out.empty()) x_report.ruled_out.push_back(std::move(ruled_out));
      x_report.trials.push_back(std::move(tried->run));
    }
  }

  int finish(Streams& streams) {
    const std::string json = report::launch_json(x_report);
    const std::string file = x_root + "/probe.json";
    if (const auto written = os::write_private_file(file, json); !written) complain(streams, written.error());
    if (x_json) {
      streams.out.write(json);
    } else {
      streams.err.write(report::render_launch(
          x_report, {.width = streams.width, .color = streams.color && streams.err.is_terminal()}));
    }
    const model::LaunchFacts& facts = x_report.base.facts;
    constexpr int kSignal = 128;
    if (facts.interrupted_by != 0) return kSignal + facts.interrupted_by;
    if (x_interrupted != 0) return kSignal + x_interrupted;
    if (facts.ended) return facts.signal != 0 ? kSignal + facts.signal : facts.exit_code;
    return model::exit_code(x_report);
  }

  int cannot_start(Streams& streams, const base::Error& error) {
    for (const char* folder : {"/launch/pipes", "/launch", ""})
      ::rmdir((x_root + folder).c_str());  // empty ones
    const int code = complain(streams, error);
    if (error.code == base::ErrorCode::kNoInput) return kNotThere;
    return error.code == base::ErrorCode::kUsage ? kCannotRun : code;
  }

  void add_notes(const std::vector<std::string>& notes, const std::string& before) {
    for (const std::string& note : notes) x_report.notes.push_back(before + note);
  }

  std::chrono::nanoseconds x_timeout = std::chrono::seconds(60), x_look = std::chrono::seconds(4);
  std::string x_folder, x_unit;
  bool x_calls = false, x_json = false, x_suggest = false;
  std::vector<std::string> x_try, x_try_arguments;
  std::optional<std::int64_t> x_pid;

  LaunchPlan x_plan;
  std::string x_root;
  std::optional<checks::Release> x_torch;
  std::vector<LaunchChange> x_changes;
  model::LaunchReport x_report;
  int x_trials = 0, x_interrupted = 0;
};

}  // namespace

std::unique_ptr<CommandBase> make_probe_command() {
  return std::make_unique<ProbeCommand>();
}

}  // namespace unhang::cli
