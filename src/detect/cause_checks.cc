// SPDX-License-Identifier: Apache-2.0
#include "detect/cause_checks.h"

#include <algorithm>

#include "detect/next_checks.h"

namespace unhang::detect {
namespace {

// The pid of the one culprit, where it is known, so that the command can be copied as it is.
std::string pid_of(const model::Verdict& verdict) {
  return verdict.culprits.size() == 1 && verdict.culprits[0].pid ? std::to_string(*verdict.culprits[0].pid)
                                                                 : "PID";
}

std::string on_hosts(const std::string& culprits) {
  return culprits.empty() ? "each waiting rank" : culprits;
}

}  // namespace

bool covers(const model::Verdict& verdict, std::string_view source) {
  return std::any_of(verdict.coverage.begin(), verdict.coverage.end(),
                     [&](const auto& row) { return row.source == source; });
}

std::string with_pid(std::string command, const model::Verdict& verdict) {
  constexpr std::string_view kPlace = "PID";
  const std::string pid = pid_of(verdict);
  for (std::size_t at = 0; (at = command.find(kPlace, at)) != std::string::npos; at += pid.size())
    command.replace(at, kPlace.size(), pid);
  return command;
}

void add_next_look(const model::Verdict& verdict, const JobContact& job,
                   std::vector<model::RecoveryStep>& out) {
  if (verdict.phase == model::Phase::kShutdown) return;
  if (job.over) {
    out.push_back(
        {"it is over: run it again, with more time to look", "unhang probe --look 30s -- CMD", false});
  } else if (job.root && (!job.ras || !covers(verdict, "nccl_ras"))) {
    out.push_back({"look again in ten seconds: what stands in the same stack twice, stands",
                   "unhang attach " + std::to_string(*job.root), false});
  } else if (!job.ras) {
    out.push_back({"RAS did not answer: what does this node lack for a look", "unhang doctor", false});
  } else if (verdict.phase == model::Phase::kInit) {
    out.push_back(
        {"ask again a minute later, not more often: some releases crash when asked during "
         "initialisation",
         "unhang ras status", false});
  } else {
    out.push_back({"what was read does not show whether it moves: watch it", "unhang ras watch", false});
  }
}

void add_cause_checks(const model::Verdict& verdict, const std::string& culprits, const JobContact& job,
                      std::vector<model::RecoveryStep>& out) {
  const std::string_view cause = verdict.cause;
  const NextCheck* check = find_next_check(cause);
  const std::size_t before = out.size();
  const auto add_check_of_cause = [&] {
    if (check != nullptr)
      out.push_back({std::string(check->why), with_pid(std::string(check->command), verdict), false});
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
    out.push_back({whose + " alive (STAT T: it is stopped; no line: it has ended)",
                   "ps -o pid,stat,etime,cmd -p " + pid_of(verdict), false});
    out.push_back({"what the kernel says on its host", "dmesg -T | tail -50", false});
  } else if (cause == "node_unreachable") {
    const std::string host = verdict.culprits.empty() || verdict.culprits.front().host.empty()
                                 ? "HOST"
                                 : verdict.culprits.front().host;
    out.push_back({"does the host answer", "ping -c 3 " + host + "; ssh " + host + " uptime", false});
  } else if (cause == "rank_silent") {
    out.push_back({"find the missing dump first: most were just not copied",
                   "ls -l /tmp/nccl_trace_rank_* ~/.cache/torch/comm_lib_trace_rank_*", false});
    out.push_back({"is the process of " + culprits + " alive, and what does it do",
                   "py-spy dump --pid " + pid_of(verdict), false});
  } else if (culprits.empty() && verdict.category == model::Category::kCollectiveDesync && job.ras &&
             !job.over) {
    out.push_back({"which ranks are late", "unhang ras status --verbose", false});
  } else if (cause == "rank_not_entered" || cause == "rank_never_joined" || cause == "p2p_unmatched") {
    out.push_back({"look at the stack of " + (culprits.empty() ? "whoever did not come" : culprits) +
                       " before it is gone",
                   "py-spy dump --pid " + pid_of(verdict), false});
  } else if (cause == "gpu_not_progressing") {
    out.push_back({"look for the device's own error on the host of " + culprits,
                   "dmesg -T | grep -iE 'xid|nvlink|nvrm'", false});
    out.push_back({"state of the device", "nvidia-smi -q -d ECC,PAGE_RETIREMENT,PERFORMANCE", false});
  } else if (cause == "straggler_rank") {
    out.push_back({"what does " + culprits + " do between its calls",
                   "py-spy record --pid " + pid_of(verdict) + " --duration 30 -o straggler.svg", false});
    out.push_back({"is its device throttled", "nvidia-smi -q -d PERFORMANCE,CLOCK", false});
  } else if (verdict.category == model::Category::kTransportStall) {
    if (job.ras && !job.over)
      out.push_back({"ask every process which collective it is in", "unhang ras status", false});
    out.push_back(
        {"look for network and device errors on the hosts", "dmesg -T | grep -iE 'xid|mlx5|link'", false});
  } else if (verdict.category == model::Category::kCollectiveDesync) {
    out.push_back(
        {"compare the lines of user code of " + on_hosts(culprits) + " and the others: add -v", "", false});
  }
  if (out.size() == before) add_check_of_cause();
}

}  // namespace unhang::detect
