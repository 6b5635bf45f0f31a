// SPDX-License-Identifier: Apache-2.0
//
// Processes that RAS could not reach: declared dead, or without an answer. A stop, a crash and an orderly
// exit look the same to it, so the cause stays open where only RAS saw it.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/rank_set.h"
#include "detect/detector.h"
#include "detect/ras_naming.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Confidence;
using model::RasPresence;

bool is_lost(RasPresence presence) {
  return presence == RasPresence::kUnresponsive || presence == RasPresence::kDead ||
         presence == RasPresence::kMissing;
}

class RasLostProcess {
 public:
  explicit RasLostProcess(const Analysis& analysis)
      : x_analysis(analysis), x_case(analysis.joined), x_ras(analysis.ras), x_names(analysis.joined) {}

  std::vector<Explanation> find() {
    if (!x_ras.asked() || !any_lost()) return {};
    compare_with_processes();
    for (const RasCommunicatorState& state : x_ras.communicators) look_at(state);
    Explanation explanation;
    if (!x_unsure) x_names.make_culprits(explanation);
    if (x_names.empty() || x_unsure) {
      if (!name_processes(explanation)) return {};
      x_names.make_suspects(explanation);
    }
    explanation.category = model::Category::kProcessOrDeviceUnavailable;
    explanation.cause = whole_hosts() ? "node_unreachable" : "rank_silent";
    explanation.state = x_dead ? model::State::kDead : model::State::kStopped;
    explanation.strength = strength();
    explanation.waiting.assign(x_waiting.begin(), x_waiting.end());
    std::erase_if(explanation.waiting, [&](model::RankIndex rank) {
      return std::binary_search(explanation.culprits.begin(), explanation.culprits.end(), rank) ||
             std::binary_search(explanation.suspects.begin(), explanation.suspects.end(), rank);
    });
    explanation.headline = headline(explanation);
    place(explanation);
    explanation.rules_out.push_back("a rank that is only late: its process would answer RAS");
    add_alternatives(explanation);
    after_the_fact(explanation);
    return {std::move(explanation)};
  }

 private:
  bool any_lost() const {
    return !x_ras.latest->lost_processes.empty() ||
           std::any_of(x_ras.communicators.begin(), x_ras.communicators.end(), [](const auto& state) {
             return std::any_of(state.communicator->ranks.begin(), state.communicator->ranks.end(),
                                [](const model::RasRank& rank) { return is_lost(rank.presence); });
           });
  }

  // NCCL 2.24 and 2.25 give the numbers of the ranks without data and no more; those whose live process does
  // not have the communicator are among them.
  void compare_with_processes() {
    const auto& processes = x_ras.latest->lost_processes;
    std::size_t devices = 0;
    for (const model::RasProcess& process : processes)
      devices += std::max<std::size_t>(process.cuda_devices.size(), 1);
    std::size_t most = 0;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      std::size_t missing = 0;
      for (const model::RasRank& rank : state.communicator->ranks) {
        missing += rank.presence == RasPresence::kMissing && rank.pid < 0 ? 1 : 0;
        x_placed = x_placed || (is_lost(rank.presence) && rank.global_rank >= 0);
      }
      most = std::max(most, missing);
    }
    x_unsure = !processes.empty() && most > devices;
    x_all_dead = !processes.empty() && most <= devices &&
                 std::all_of(processes.begin(), processes.end(), [](const auto& one) { return one.dead; });
  }

  bool is_dead(const model::RasRank& rank) const {
    return rank.presence == RasPresence::kDead || (rank.presence == RasPresence::kMissing && x_all_dead);
  }

  void look_at(const RasCommunicatorState& state) {
    std::size_t lost = 0;
    std::set<std::tuple<std::string, std::int64_t, std::int32_t>> answering;
    for (const model::RasRank& rank : state.communicator->ranks) {
      if (!is_lost(rank.presence)) {
        // A text answer does not say where the ranks are that answered.
        if (rank.host.empty()) x_host_unknown = true;
        x_answered_hosts.insert(rank.host);
        // Whose process is not known counts for itself.
        if (rank.presence == RasPresence::kAnswered)
          answering.emplace(rank.host, rank.pid, rank.pid < 0 ? rank.rank : -1);
        if (const auto index = case_rank(x_case, rank)) x_waiting.insert(*index);
        continue;
      }
      ++lost;
      x_dead = x_dead || is_dead(rank);
      x_silent = x_silent || !is_dead(rank);
      if (rank.host.empty()) x_host_unknown = true;
      x_lost_hosts[rank.host].insert(rank.pid);
      // A number in a smaller communicator adds nobody to those that are ranks of the job.
      if (x_placed && rank.global_rank < 0 && rank.pid < 0) continue;
      x_names.add(state, rank.rank, why(rank));
    }
    x_most_answering = std::max(x_most_answering, answering.size());
    if (lost == 0) return;
    x_places.emplace_back(&state, lost);
  }

  std::string why(const model::RasRank& rank) const {
    const std::string who =
        rank.pid >= 0 ? "its process " + std::to_string(rank.pid) : std::string("its process");
    if (is_dead(rank)) return who + " was declared dead: nothing heard from it for 60 s";
    if (rank.presence == RasPresence::kMissing) return "no data of it came";
    return who + " does not answer the health service of NCCL";
  }

  // Where no communicator says which ranks they were.
  bool name_processes(Explanation& explanation) {
    x_dead = x_silent = false;
    for (const model::RasProcess& process : x_ras.latest->lost_processes) {
      model::Subject subject;
      subject.kind = model::SubjectKind::kProcess;
      subject.host = process.host;
      if (process.pid >= 0) subject.pid = process.pid;
      subject.why = process.dead ? "declared dead by the health service of NCCL"
                                 : "does not answer the health service of NCCL";
      x_dead = x_dead || process.dead;
      x_silent = x_silent || !process.dead;
      x_host_unknown = true;
      explanation.other_culprits.push_back(std::move(subject));
    }
    return !explanation.other_culprits.empty();
  }

  // Several processes are lost, all of whole hosts, and some other host answers.
  bool whole_hosts() const {
    std::size_t lost = 0;
    for (const auto& [host, pids] : x_lost_hosts) {
      if (x_answered_hosts.count(host) != 0) return false;
      lost += pids.size();
    }
    return !x_host_unknown && lost > x_lost_hosts.size() && !x_answered_hosts.empty();
  }

  Confidence strength() const {
    // A process that was given up while it stood still sees everybody else as dead when it goes on.
    if (x_dead && x_most_answering == 1 && x_names.size() > 1) return Confidence::kLow;
    if (!x_ras.latest->contradicted.empty()) return Confidence::kMedium;
    if (x_dead && !x_silent) return Confidence::kHigh;
    if (left_no_dump()) return Confidence::kHigh;
    return x_dead || silent_before() ? Confidence::kHigh : Confidence::kMedium;
  }

  // The answer before the latest missed the same ranks: it was no passing delay.
  bool silent_before() const {
    const auto& views = x_case.ras.views;
    if (views.size() < 2 || x_places.empty()) return false;
    std::set<std::pair<std::uint64_t, std::int32_t>> before;
    for (const auto& communicator : views[views.size() - 2].communicators) {
      for (const model::RasRank& rank : communicator.ranks)
        if (is_lost(rank.presence)) before.emplace(communicator.hash, rank.rank);
    }
    return std::all_of(x_places.begin(), x_places.end(), [&](const auto& place) {
      const model::RasCommunicator& communicator = *place.first->communicator;
      return std::all_of(
          communicator.ranks.begin(), communicator.ranks.end(), [&](const model::RasRank& rank) {
            return !is_lost(rank.presence) || before.count({communicator.hash, rank.rank}) != 0;
          });
    });
  }

  // Two sources asked, and neither heard of them: the others left dumps, they did not.
  bool left_no_dump() const {
    Explanation scratch;
    x_names.make_culprits(scratch);
    const auto dumped = std::count_if(x_case.ranks.begin(), x_case.ranks.end(),
                                      [](const auto& rank) { return rank.tail_known; });
    return x_case.has_dumps && !scratch.culprits.empty() && scratch.other_culprits.empty() &&
           std::cmp_equal(static_cast<std::size_t>(dumped) + scratch.culprits.size(), x_case.ranks.size()) &&
           std::none_of(scratch.culprits.begin(), scratch.culprits.end(),
                        [&](auto index) { return x_case.ranks[index].input.has_value(); });
  }

  std::string headline(const Explanation& explanation) const {
    const bool by_process = x_names.empty() || x_unsure;
    const std::size_t count = by_process ? explanation.other_culprits.size() : x_names.size();
    const std::string who = by_process ? processes_text(explanation.other_culprits) : x_names.text();
    std::string out = explanation.cause == "node_unreachable"
                          ? "no process on " + hosts_text() + " answers: " + who
                      : x_silent ? who + plural(count, " does not answer", " do not answer")
                                 : who + plural(count, " is dead", " are dead");
    if (x_dead && x_silent) out += ", some of them are declared dead";
    if (x_unsure)
      return out + "; which of " + x_names.text() + plural(count, " it is", " they are") +
             ", this release does not say";
    const std::size_t others = explanation.waiting.size();
    if (others > 0)
      out +=
          ", while " + std::to_string(others) + plural(others, " other rank answers", " other ranks answer");
    return out;
  }

  static std::string processes_text(const std::vector<model::Subject>& processes) {
    if (processes.size() != 1) return std::to_string(processes.size()) + " processes";
    std::string out = "process " + std::to_string(processes[0].pid.value_or(-1));
    return processes[0].host.empty() ? out : out + " on " + processes[0].host;
  }

  std::string hosts_text() const {
    if (x_lost_hosts.size() == 1) return "host " + x_lost_hosts.begin()->first;
    return std::to_string(x_lost_hosts.size()) + " hosts";
  }

  // The largest communicator first: it says most.
  void place(Explanation& explanation) {
    std::stable_sort(x_places.begin(), x_places.end(), [](const auto& a, const auto& b) {
      return a.first->communicator->size > b.first->communicator->size;
    });
    for (const auto& [state, lost] : x_places) {
      explanation.records.push_back(cite_communicator(
          x_case, x_ras, *state->communicator,
          std::to_string(lost) + " of " + std::to_string(state->communicator->size) + " ranks gave no data"));
    }
    if (const Stall* stall = waits_for_them(explanation)) {
      explanation.at = place_of(x_analysis, *stall);
      explanation.evidence.push_back(*explanation.at);
    } else if (!x_places.empty()) {
      model::Where where;
      where.group = x_places.front().first->label;
      explanation.where = std::move(where);
    }
  }

  const Stall* waits_for_them(const Explanation& explanation) const {
    const Stall* first = nullptr;
    for (const Stall& stall : x_analysis.waits.stalls) {
      const bool theirs =
          std::any_of(explanation.culprits.begin(), explanation.culprits.end(), [&](auto rank) {
            return std::find(stall.unknown.begin(), stall.unknown.end(), rank) != stall.unknown.end() ||
                   std::find(stall.absent.begin(), stall.absent.end(), rank) != stall.absent.end();
          });
      if (theirs && (first == nullptr || stall.since_ns < first->since_ns)) first = &stall;
    }
    return first;
  }

  void add_alternatives(Explanation& explanation) const {
    const std::string check =
        "on its host: ps -o pid,stat,etime,cmd -p PID (T: stopped, no line: it ended), dmesg -T | tail -50";
    for (const std::string_view cause : {"process_exited", "process_stopped"}) {
      explanation.alternatives.push_back(
          {.category = explanation.category,
           .cause = cause,
           .speaks_for = {"a stopped, a crashed and an ended process look the same from afar"},
           .speaks_against = {},
           .decide_by = check});
    }
    if (strength() == Confidence::kLow) {
      explanation.alternatives.push_back(
          {.category = explanation.category,
           .cause = "process_stopped",
           .speaks_for =
               {"one process answers and calls all others dead: it may itself have been stopped, given up "
                "and continued"},
           .speaks_against = {},
           .decide_by = "ask the other processes: unhang ras status --connections 16"});
    }
  }

  // Who left a dump lived when the others dumped: it may have been killed since, by the watchdog.
  void after_the_fact(Explanation& explanation) const {
    if (!x_case.has_dumps || x_analysis.waits.stalls.empty()) return;
    const bool all_dumped = std::all_of(explanation.culprits.begin(), explanation.culprits.end(),
                                        [&](model::RankIndex rank) { return x_case.ranks[rank].tail_known; });
    // Whom nothing places in the job is of another one, or died later, where everybody of it left a dump.
    const bool everyone = std::all_of(x_case.ranks.begin(), x_case.ranks.end(),
                                      [](const model::Rank& rank) { return rank.tail_known; });
    if (everyone || (all_dumped && !explanation.culprits.empty())) explanation.explains_stall = false;
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  const RasAnalysis& x_ras;
  RasNames x_names;
  std::set<model::RankIndex> x_waiting;
  std::set<std::string> x_answered_hosts;
  std::size_t x_most_answering = 0;  // processes that answered, of the communicator that shows most of them
  std::map<std::string, std::set<std::int64_t>> x_lost_hosts;
  std::vector<std::pair<const RasCommunicatorState*, std::size_t>> x_places;  // with how many it lost
  bool x_dead = false, x_silent = false, x_host_unknown = false;
  bool x_placed = false;    // some of the lost are known as ranks of the job
  bool x_unsure = false;    // more ranks without data than the lost processes can have
  bool x_all_dead = false;  // ranks without data are those of dead processes
};

}  // namespace

std::vector<Explanation> find_ras_lost_process(const Analysis& analysis) {
  return RasLostProcess(analysis).find();
}

}  // namespace unhang::detect
