// SPDX-License-Identifier: Apache-2.0
#include "detect/recovery_advice.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "detect/next_checks.h"
#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::RecoveryLevel;
using model::State;

// The pid of the one culprit, where it is known, so that the command can be copied as it is.
std::string pid_of(const model::Verdict& verdict) {
  return verdict.culprits.size() == 1 && verdict.culprits[0].pid ? std::to_string(*verdict.culprits[0].pid)
                                                                 : "PID";
}

std::string on_hosts(const std::string& culprits) {
  return culprits.empty() ? "each waiting rank" : culprits;
}

bool covers(const model::Verdict& verdict, std::string_view source) {
  return std::any_of(verdict.coverage.begin(), verdict.coverage.end(),
                     [&](const auto& row) { return row.source == source; });
}

// The command with the pid of the one culprit in its place.
std::string with_pid(std::string command, const model::Verdict& verdict) {
  constexpr std::string_view kPlace = "PID";
  const std::string pid = pid_of(verdict);
  for (std::size_t at = 0; (at = command.find(kPlace, at)) != std::string::npos; at += pid.size())
    command.replace(at, kPlace.size(), pid);
  return command;
}

// What to look at where one look at a live job shows no movement.
void add_next_look(const model::Verdict& verdict, const Askable& job, model::Recovery& out) {
  if (verdict.phase == model::Phase::kShutdown) return;
  if (job.over) {
    out.steps.push_back(
        {"it is over: run it again, with more time to look", "unhang probe --look 30s -- CMD", false});
  } else if (job.root && (!job.ras || !covers(verdict, "nccl_ras"))) {
    out.steps.push_back({"look again in ten seconds: what stands in the same stack twice, stands",
                         "unhang attach " + std::to_string(*job.root), false});
  } else if (!job.ras) {
    out.steps.push_back({"RAS did not answer: what does this node lack for a look", "unhang doctor", false});
  } else if (verdict.phase == model::Phase::kInit) {
    out.steps.push_back(
        {"ask again a minute later, not more often: some releases crash when asked during "
         "initialisation",
         "unhang ras status", false});
  } else {
    out.steps.push_back(
        {"what was read does not show whether it moves: watch it", "unhang ras watch", false});
  }
}

void add_checks(const model::Verdict& verdict, const std::string& culprits, const Askable& job,
                model::Recovery& out) {
  const std::string_view cause = verdict.cause;
  const NextCheck* check = find_next_check(cause);
  const auto add_check_of_cause = [&] {
    if (check != nullptr)
      out.steps.push_back({std::string(check->why), with_pid(std::string(check->command), verdict), false});
  };
  // Of logs alone nothing is counted by rank: the cause says where to look.
  if (verdict.coverage.empty() && check != nullptr) {
    add_check_of_cause();
    return;
  }
  if (cause == "rank_silent" && (covers(verdict, "nccl_ras") || !covers(verdict, "flight_recorder"))) {
    const std::string whose = !culprits.empty()              ? "is the process of " + culprits
                              : verdict.culprits.size() == 1 ? "is that process"
                                                             : "are these processes";
    out.steps.push_back({whose + " alive (STAT T: it is stopped; no line: it has ended)",
                         "ps -o pid,stat,etime,cmd -p " + pid_of(verdict), false});
    out.steps.push_back({"what the kernel says on its host", "dmesg -T | tail -50", false});
  } else if (cause == "node_unreachable") {
    out.steps.push_back({"does the host answer", "ping -c 3 HOST; ssh HOST uptime", false});
  } else if (cause == "rank_silent") {
    out.steps.push_back({"find the missing dump first: most were just not copied",
                         "ls -l /tmp/nccl_trace_rank_* ~/.cache/torch/comm_lib_trace_rank_*", false});
    out.steps.push_back({"is the process of " + culprits + " alive, and what does it do",
                         "py-spy dump --pid " + pid_of(verdict), false});
  } else if (culprits.empty() && verdict.category == model::Category::kCollectiveDesync && job.ras &&
             !job.over) {
    out.steps.push_back({"which ranks are late", "unhang ras status --verbose", false});
  } else if (cause == "rank_not_entered" || cause == "rank_never_joined" || cause == "p2p_unmatched") {
    out.steps.push_back({"look at the stack of " + culprits + " before it is gone",
                         "py-spy dump --pid " + pid_of(verdict), false});
  } else if (cause == "gpu_not_progressing") {
    out.steps.push_back({"look for the device's own error on the host of " + culprits,
                         "dmesg -T | grep -iE 'xid|nvlink|nvrm'", false});
    out.steps.push_back({"state of the device", "nvidia-smi -q -d ECC,PAGE_RETIREMENT,PERFORMANCE", false});
  } else if (cause == "straggler_rank") {
    out.steps.push_back({"what does " + culprits + " do between its calls",
                         "py-spy record --pid " + pid_of(verdict) + " --duration 30 -o straggler.svg",
                         false});
    out.steps.push_back({"is its device throttled", "nvidia-smi -q -d PERFORMANCE,CLOCK", false});
  } else if (verdict.category == model::Category::kTransportStall) {
    if (job.ras && !job.over)
      out.steps.push_back({"ask every process which collective it is in", "unhang ras status", false});
    out.steps.push_back(
        {"look for network and device errors on the hosts", "dmesg -T | grep -iE 'xid|mlx5|link'", false});
  } else if (verdict.category == model::Category::kCollectiveDesync) {
    out.steps.push_back(
        {"compare the lines of user code of " + on_hosts(culprits) + " and the others: add -v", "", false});
  }
  if (out.steps.empty()) add_check_of_cause();
}

}  // namespace

Askable askable(const model::Case& joined) {
  Askable out;
  bool asked = false, answered = !joined.ras.views.empty();
  for (const model::BundleManifest& bundle : joined.bundles) {
    for (const model::BundleSource& source : bundle.sources) {
      if (source.kind != "ras") continue;
      asked = true;
      answered = answered || source.status == model::SourceStatus::kAnswered ||
                 source.status == model::SourceStatus::kPartial;
    }
  }
  out.ras = answered || !asked;
  out.over = std::any_of(joined.bundles.begin(), joined.bundles.end(),
                         [](const model::BundleManifest& bundle) { return bundle.command.has_value(); });
  const auto is_alive = [](const model::ProcessSample& sample) {
    return sample.pid >= 0 && sample.state != '\0' && sample.state != 'Z' && sample.state != 'X';
  };
  std::set<std::int64_t> alive;
  for (const model::ProcessReading& reading : joined.processes) {
    if (is_alive(reading.sample)) alive.insert(reading.sample.pid);
  }
  for (const model::ProcessReading& reading : joined.processes) {
    if (!is_alive(reading.sample) || alive.contains(reading.sample.parent)) continue;
    if (!out.root || reading.sample.pid < *out.root) out.root = reading.sample.pid;
  }
  return out;
}

model::Recovery advise(const model::Verdict& verdict, const std::string& culprits, const Askable& job) {
  model::Recovery out;
  if (verdict.category == model::Category::kHealthy) {
    if (verdict.state == State::kUnknown && covers(verdict, "nccl_ras")) add_next_look(verdict, job, out);
    return out;
  }
  if (verdict.state == State::kUnknown && verdict.confidence == model::Confidence::kLow) {
    add_next_look(verdict, job, out);
    add_checks(verdict, culprits, job, out);
    return out;
  }
  add_checks(verdict, culprits, job, out);
  if (verdict.state == State::kStarting) return out;
  if (verdict.state == State::kSlow) {
    out.level = RecoveryLevel::kNone;
    return out;
  }
  const model::CauseInfo* info = model::find_cause(verdict.cause);
  out.level = info != nullptr && info->recovery > RecoveryLevel::kProcessGroup ? info->recovery
                                                                               : RecoveryLevel::kProcessGroup;
  if (verdict.cause == "process_stopped")
    out.steps.push_back(
        {"let it go on, where nobody means it to stand", with_pid("kill -CONT PID", verdict), true});
  const std::string then = out.steps.empty() ? "" : "then ";
  out.steps.push_back(
      {then + "restart the whole process group, not one rank: the others cannot take it back", "", true});
  return out;
}

}  // namespace unhang::detect
