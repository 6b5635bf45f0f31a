// SPDX-License-Identifier: Apache-2.0
//
// How the command ended that `unhang run` or `unhang probe` ran: its status or signal, which no log shows as
// surely, and what the kernel counted in its control group. A kill for lack of memory and a crash are reasons
// of their own; any other end may as well follow from a stall that logs and dumps show, and gives way to
// them.
#include <string>

#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::BundleCommand;
using model::BundleManifest;
using model::Confidence;

constexpr int kKill = 9, kOfSignal = 128;

std::string signal_words(int number) {
  struct Name {
    int number;
    const char* name;
  };
  constexpr Name kNames[] = {{4, "SIGILL"},  {6, "SIGABRT"},  {7, "SIGBUS"},  {8, "SIGFPE"},
                             {9, "SIGKILL"}, {11, "SIGSEGV"}, {15, "SIGTERM"}};
  for (const Name& known : kNames) {
    if (known.number == number) return "signal " + std::to_string(number) + " (" + known.name + ")";
  }
  return "signal " + std::to_string(number);
}

// Shells and launchers hand on what ended their child as 128 and more.
int signal_of(const BundleCommand& command) {
  if (command.signal != 0) return command.signal;
  return command.status > kOfSignal && command.status <= kOfSignal + 64 ? command.status - kOfSignal : 0;
}

bool is_crash(int signal) {
  return signal == 4 || signal == 7 || signal == 8 || signal == 11;
}

std::string seconds_words(std::int64_t milliseconds) {
  return std::to_string(milliseconds / 1000) + "." + std::to_string(milliseconds % 1000 / 100) + " s";
}

std::string end_words(const BundleCommand& command) {
  const int signal = signal_of(command);
  std::string out = command.signal != 0 ? "was killed by " + signal_words(command.signal)
                                        : "ended with status " + std::to_string(command.status);
  if (command.signal == 0 && signal != 0) out += ", which stands for " + signal_words(signal);
  if (command.core_dumped) out += " (core dumped)";
  return out + " after " + seconds_words(command.ran_ms);
}

Explanation explanation_of(const BundleManifest& bundle) {
  const BundleCommand& command = *bundle.command;
  const std::int64_t killed = command.oom_kills.value_or(0);
  Explanation out;
  out.category = model::Category::kProcessOrDeviceUnavailable;
  out.cause = killed > 0 ? "oom_killed" : "process_exited";
  out.strength = Confidence::kMedium;
  out.state = model::State::kDead;
  out.headline = "the command " + end_words(command);
  if (killed > 0)
    out.headline += "; the kernel killed " + std::to_string(killed) +
                    plural(static_cast<std::size_t>(killed), " process", " processes") +
                    " of its control group for lack of memory";
  model::Subject subject;
  subject.kind = model::SubjectKind::kProcess;
  subject.host = bundle.host;
  if (command.pid > 0) subject.pid = command.pid;
  subject.why = end_words(command);
  out.other_culprits.push_back(std::move(subject));
  if (killed == 0 && signal_of(command) == kKill) {
    out.alternatives.push_back({.category = out.category,
                                .cause = "oom_killed",
                                .speaks_for = {"the kernel kills with signal 9 where memory runs out"},
                                .speaks_against = {command.oom_kills ? "its control group counts no such kill"
                                                                     : "nothing counted such kills here"},
                                .decide_by = "dmesg -T | grep -i 'killed process'"});
    out.alternatives.push_back({.category = out.category,
                                .cause = "killed_by_orchestrator",
                                .speaks_for = {"signal 9 comes from outside"},
                                .speaks_against = {},
                                .decide_by = "kubectl get events --sort-by=.lastTimestamp | tail -20"});
  }
  return out;
}

std::vector<Explanation> ends(const Analysis& analysis, bool reasons_of_their_own) {
  constexpr std::size_t kMost = 16;
  std::vector<Explanation> out;
  for (const BundleManifest& bundle : analysis.joined.bundles) {
    if (!bundle.command || !bundle.command->ended || out.size() >= kMost) continue;
    const BundleCommand& command = *bundle.command;
    if (command.signal == 0 && command.status == 0) continue;
    const bool own = command.oom_kills.value_or(0) > 0 || is_crash(signal_of(command));
    if (own != reasons_of_their_own) continue;
    out.push_back(explanation_of(bundle));
    out.back().tentative = !own;
  }
  return out;
}

}  // namespace

std::vector<Explanation> find_command_crash(const Analysis& analysis) {
  return ends(analysis, true);
}

std::vector<Explanation> find_command_end(const Analysis& analysis) {
  return ends(analysis, false);
}

}  // namespace unhang::detect
