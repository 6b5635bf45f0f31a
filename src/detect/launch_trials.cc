// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_trials.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/launch_words.h"

namespace unhang::detect {
namespace {

using model::LaunchFacts;
using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchRun;

// What a variable takes out, as NCCL's env.rst has it.
struct Experiment {
  std::string_view name, value;
  std::string_view subject;  // "peer-to-peer copies between GPUs (PCIe, NVLink)"
  std::string_view note;     // where the trial gets further
};
constexpr std::array<Experiment, 11> kExperiments{{
    {"NCCL_P2P_DISABLE", "1", "direct copies between GPUs (PCIe, NVLink)",
     "look at IOMMU, ACS and the fabric manager; the variable costs speed and is no repair"},
    {"NCCL_SHM_DISABLE", "1", "shared memory between processes",
     "look at the size of /dev/shm (docker --shm-size) and at who may write there"},
    {"NCCL_CUMEM_ENABLE", "0", "memory from the cuMem interface",
     "look at the driver's release, IMEX and the container's /dev nodes"},
    {"NCCL_CUMEM_HOST_ENABLE", "0", "host memory from the cuMem interface",
     "look at NUMA support in the container and at the driver's release"},
    {"NCCL_NVLS_ENABLE", "0", "NVLink SHARP (multicast)",
     "look at the fabric manager and the NVSwitches; without it all-reduce is slower"},
    {"NCCL_IB_DISABLE", "1", "InfiniBand and RoCE",
     "look at the HCAs' ports, GIDs, memlock and partitions; over sockets it is many times slower"},
    {"NCCL_NET_GDR_LEVEL", "LOC", "GPUDirect RDMA",
     "look at nvidia-peermem, ACS and the place of NICs and GPUs"},
    {"NCCL_NET_PLUGIN", "none", "the network plugin",
     "look at the plugin's release and what it was built against"},
    {"NCCL_SOCKET_IFNAME", "lo", "the choice of the network interface (one node only)",
     "set NCCL_SOCKET_IFNAME to the interface on which all nodes reach each other"},
    {"NCCL_RAS_ENABLE", "0", "NCCL's RAS service", ""},
    {"NCCL_ALGO", "Ring", "algorithms other than rings", "tell the maintainers of NCCL: they want its log"},
}};

const Experiment* find(std::string_view change) {
  const std::string_view name = change.substr(0, change.find('='));
  const auto at = std::find_if(kExperiments.begin(), kExperiments.end(),
                               [&](const Experiment& known) { return known.name == name; });
  return at == kExperiments.end() ? nullptr : &*at;
}

struct OfCause {
  std::string_view cause, variable;
};
constexpr std::array<OfCause, 14> kOfCause{{{"p2p_blocked_by_iommu_or_acs", "NCCL_P2P_DISABLE"},
                                            {"p2p_corruption", "NCCL_P2P_DISABLE"},
                                            {"nvlink_fault", "NCCL_P2P_DISABLE"},
                                            {"shm_exhausted", "NCCL_SHM_DISABLE"},
                                            {"nvls_failure", "NCCL_NVLS_ENABLE"},
                                            {"fabric_manager", "NCCL_NVLS_ENABLE"},
                                            {"ib_retry_exceeded", "NCCL_IB_DISABLE"},
                                            {"rnr", "NCCL_IB_DISABLE"},
                                            {"gid_or_route", "NCCL_IB_DISABLE"},
                                            {"hca_fault", "NCCL_IB_DISABLE"},
                                            {"gdr_broken", "NCCL_NET_GDR_LEVEL"},
                                            {"plugin_mismatch", "NCCL_NET_PLUGIN"},
                                            {"interface_mismatch", "NCCL_SOCKET_IFNAME"},
                                            {"bootstrap_unreachable", "NCCL_SOCKET_IFNAME"}}};

// What the log shows to be in use; what is not cannot be the reason.
struct InUse {
  bool network = true, one_node = false, plugin = false, ranks_look_for_each_other = false;
};
InUse in_use(const model::Case* joined) {
  InUse use;
  if (joined == nullptr || joined->logs.communicators.empty()) return use;
  use.one_node = use.ranks_look_for_each_other = true;
  std::vector<std::string> hosts;
  for (const auto& communicator : joined->logs.communicators) {
    const model::LogOrigin& origin = joined->logs.origins[communicator.origin];
    if (std::find(hosts.begin(), hosts.end(), origin.host) == hosts.end()) hosts.push_back(origin.host);
    if (communicator.nodes > 1) use.one_node = false;
    if (communicator.phase > model::CommunicatorPhase::kStarted) use.ranks_look_for_each_other = false;
  }
  if (hosts.size() > 1) use.one_node = false;
  use.network = !use.one_node;
  for (const auto& event : joined->logs.events)
    use.plugin = use.plugin || event.kind == model::LogEventKind::kPluginLoaded;
  return use;
}

// How far a run came: the further, the larger.
int distance(const LaunchRun& run) {
  const LaunchFacts& facts = run.facts;
  if (facts.ended && facts.signal == 0 && facts.exit_code == 0) return 100;
  const int failed = facts.ended ? -1 : 0;
  return static_cast<int>(run.stage.place) * 10 + failed;
}

std::string reached(const LaunchRun& run) {
  return run.stage.place == LaunchPlace::kRunning ? "at work" : place_words(run.stage.place);
}

bool stands_in_nccl(const model::LaunchStage& stage) {
  return stage.place == LaunchPlace::kNcclInit || stage.place == LaunchPlace::kFirstCollective;
}

// A program that was at work may hang in a later call of NCCL, too.
bool may_stand_in_nccl(const model::LaunchStage& stage) {
  return stands_in_nccl(stage) || stage.place == LaunchPlace::kRunning ||
         stage.place == LaunchPlace::kUnknown;
}

std::string end_words(const LaunchRun& run) {
  const LaunchFacts& facts = run.facts;
  if (!facts.ended) return reached(run);
  if (facts.signal != 0) return fmt::format("killed by signal {}, {}", facts.signal, reached(run));
  return facts.exit_code == 0 ? "ended well"
                              : fmt::format("ended with status {}, {}", facts.exit_code, reached(run));
}

}  // namespace

std::vector<TrialIdea> suggest_trials(const model::Case* joined, const model::LaunchStage& stage,
                                      const model::Verdict* verdict, std::size_t most,
                                      std::string* why_none) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const InUse use = in_use(joined);
  const bool in_nccl = stands_in_nccl(stage);
  // Where it stands elsewhere, a mere possibility is not worth a run.
  if (verdict != nullptr && (in_nccl || verdict->confidence != model::Confidence::kLow)) {
    for (const OfCause& known : kOfCause) {
      if (known.cause == verdict->cause) add(known.variable);
    }
  }
  if (in_nccl && stage.missing.empty()) {
    if (use.ranks_look_for_each_other && stage.place == LaunchPlace::kNcclInit) {
      if (use.one_node) add("NCCL_SOCKET_IFNAME");
    } else {
      for (const std::string_view name :
           {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_CUMEM_ENABLE", "NCCL_NVLS_ENABLE"})
        add(name);
    }
    if (use.network) add("NCCL_IB_DISABLE");
    if (use.plugin) add("NCCL_NET_PLUGIN");
  }
  std::vector<TrialIdea> ideas;
  for (const std::string_view name : names) {
    const Experiment* known = find(name);
    if (known == nullptr || ideas.size() >= most) continue;
    if (name == "NCCL_SOCKET_IFNAME" && !use.one_node) continue;  // which one, only a person knows
    ideas.push_back(
        {fmt::format("{}={}", known->name, known->value), fmt::format("takes {} out", known->subject)});
  }
  if (ideas.empty() && why_none != nullptr) {
    *why_none = !stage.missing.empty()
                    ? "no variable of NCCL brings ranks that never came: find out why they did not start"
                : in_nccl ? "nothing was seen that one variable could take out"
                          : "it does not stand in NCCL: none of its variables would change that";
  }
  return ideas;
}

std::string trial_outcome(const LaunchRun& base, const LaunchRun& trial, std::string* ruled_out) {
  const Experiment* known = find(trial.change);
  const std::string subject =
      known != nullptr ? std::string(known->subject) : "what " + trial.change + " changes";
  const int before = distance(base), after = distance(trial);
  if (after > before) {
    std::string text = fmt::format("gets further: {} instead of {}", end_words(trial), end_words(base));
    // What NCCL reads cannot have held up what was not in NCCL; the program itself may read the variable.
    if (known != nullptr && !may_stand_in_nccl(base.stage)) {
      return text +
             "; it did not stand in NCCL, so the program itself reads this variable, or it was chance: "
             "try it again";
    }
    text += fmt::format(". It hangs on {}", subject);
    if (known != nullptr && !known->note.empty()) text += fmt::format("; {}", known->note);
    return text;
  }
  if (after < before)
    return fmt::format("does not get as far: {} instead of {}", end_words(trial), end_words(base));
  if (base.facts.ended && trial.facts.ended && base.facts.exit_code == 0 && base.facts.signal == 0) {
    if (base.facts.throughput && trial.facts.throughput && *base.facts.throughput > 0 &&
        base.facts.throughput_unit == trial.facts.throughput_unit)
      return fmt::format("ends well too, at {:.0f} % of the speed",
                         100 * *trial.facts.throughput / *base.facts.throughput);
    return "ends well too";
  }
  if (known != nullptr && !may_stand_in_nccl(base.stage))
    return fmt::format("no difference: {}; before NCCL is reached it says nothing of {}", end_words(trial),
                       subject);
  if (ruled_out != nullptr) *ruled_out = fmt::format("{} ({} made no difference)", subject, trial.change);
  return fmt::format("no difference: {}", end_words(trial));
}

void conclude_trials(model::LaunchReport& report) {
  std::vector<std::string> helped;
  for (const LaunchRun& trial : report.trials) {
    if (trial.facts.interrupted_by == 0 && distance(trial) > distance(report.base))
      helped.push_back(trial.change);
  }
  std::string words;
  if (!helped.empty()) words = fmt::format("; gets further with {}", fmt::join(helped, " or with "));
  if (!report.ruled_out.empty()) words += fmt::format("; ruled out: {}", fmt::join(report.ruled_out, ", "));
  report.base.stage.headline += words;
  if (!report.verdict || words.empty()) return;
  report.verdict->headline += words;
  for (model::Finding& finding : report.verdict->findings)
    finding.rules_out.insert(finding.rules_out.end(), report.ruled_out.begin(), report.ruled_out.end());
}

std::vector<std::string> set_anew(const model::Case& joined,
                                  const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> notes;
  for (const auto& [name, value] : set) {
    for (const model::LogEvent& event : joined.logs.events) {
      if (event.kind != model::LogEventKind::kEnvironment || event.subject != name || event.detail.empty() ||
          event.detail == value)
        continue;
      notes.push_back(fmt::format("NCCL read {}={}, not {}: something inside the processes sets it", name,
                                  event.detail, value));
      break;
    }
  }
  return notes;
}

}  // namespace unhang::detect
