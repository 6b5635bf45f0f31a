// SPDX-License-Identifier: Apache-2.0
//
// The sinks of the wait-for graph: ranks that others wait for, that left a dump, and that have nothing open
// themselves. Their trouble is on the host or in the program. Everybody upstream of them is a victim.
#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.h"
#include "detect/detector.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::Operation;
using model::Rank;
using model::RankIndex;

class NotEntered {
 public:
  explicit NotEntered(const Analysis& analysis) : x_analysis(analysis), x_case(analysis.joined) {}

  std::vector<Explanation> find() {
    for (const RankIndex rank : x_analysis.waits.roots()) {
      if (!x_analysis.waits.ranks[rank].stands()) x_culprits.push_back(rank);
    }
    if (x_culprits.empty()) return {};
    drop_who_kept_up();
    const Stall& stall = first_stall();
    Explanation explanation;
    explanation.at = place_of(x_analysis, stall);
    explanation.evidence.push_back(*explanation.at);
    explanation.rules_out.push_back(
        "transport: the operation cannot start before all members have entered it");
    for (const RankIndex rank : x_culprits) cite_last_operation(rank, explanation);
    if (is_extra_call(stall)) {
      explain_extra_call(stall, explanation);
    } else {
      explain_absence(stall, explanation);
    }
    const auto silent = x_analysis.waits.silent();
    explanation.suspects.insert(explanation.suspects.end(), silent.begin(), silent.end());
    return {std::move(explanation)};
  }

 private:
  // Of an active-only dump a finished transfer is gone: its rank looks as idle as the one that never posted
  // it. In a ring, where all members do the same, their counts of work tell them apart: who is one behind did
  // not come.
  void drop_who_kept_up() {
    if (x_culprits.size() < 2 || !only_transfers()) return;
    const Stall& stall =
        x_analysis.waits.stalls[x_analysis.waits.ranks[x_culprits.front()].absent_in.front()];
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for (const RankIndex member : x_case.groups[stall.group].members) {
      const model::Lane* lane = x_case.ranks[member].lane(stall.group);
      if (lane == nullptr || !lane->last_work) return;
      least = std::min(least, *lane->last_work);
      most = std::max(most, *lane->last_work);
    }
    if (most - least != 1) return;
    std::vector<RankIndex> behind = x_culprits;
    std::erase_if(behind, [&](RankIndex rank) {
      const model::Lane* lane = x_case.ranks[rank].lane(stall.group);
      return x_case.ranks[rank].only_active && lane != nullptr && lane->last_work == most;
    });
    if (!behind.empty()) x_culprits = std::move(behind);
  }

  // The call that the culprits missed, as near to them as can be: nobody but them is absent, most wait, then
  // longest.
  const Stall& first_stall() const {
    const Stall* best = nullptr;
    for (const RankIndex rank : x_culprits) {
      for (const std::size_t index : x_analysis.waits.ranks[rank].absent_in) {
        const Stall& stall = x_analysis.waits.stalls[index];
        if (best == nullptr || nearness(stall) < nearness(*best)) best = &stall;
      }
    }
    CHECK(best != nullptr);  // a root is one because somebody waits for it
    return *best;
  }

  std::tuple<std::size_t, std::int64_t, std::int64_t> nearness(const Stall& stall) const {
    const auto others = std::count_if(stall.absent.begin(), stall.absent.end(), [&](RankIndex rank) {
      return !std::binary_search(x_culprits.begin(), x_culprits.end(), rank);
    });
    return {static_cast<std::size_t>(others), -static_cast<std::int64_t>(stall.waiting.size()),
            stall.since_ns};
  }

  void cite_last_operation(RankIndex index, Explanation& explanation) const {
    const Rank& rank = x_case.ranks[index];
    if (!rank.operations.empty()) {
      explanation.evidence.push_back({index, static_cast<std::uint32_t>(rank.operations.size() - 1)});
    }
  }

  // A minority entered, and the others have nothing open anywhere: those who entered are one call too far.
  bool is_extra_call(const Stall& stall) const {
    if (stall.transfer || !stall.unknown.empty()) return false;
    const std::size_t members = x_case.groups[stall.group].members.size();
    const std::size_t entered = members - stall.absent.size();
    if (entered * 2 >= members) return false;
    return std::all_of(stall.absent.begin(), stall.absent.end(), [&](RankIndex rank) {
      return !x_analysis.waits.ranks[rank].waits() && !x_analysis.waits.ranks[rank].stands();
    });
  }

  void explain_extra_call(const Stall& stall, Explanation& explanation) {
    explanation.category = Category::kCollectiveDesync;
    explanation.cause = "extra_collective";
    explanation.strength = stall.waiting.size() * 4 <= stall.waiting.size() + stall.absent.size()
                               ? Confidence::kMedium
                               : Confidence::kLow;
    explanation.culprits = stall.waiting;
    explanation.headline = "only " + ranks_text(x_case, stall.waiting) + " called " +
                           place_text(explanation) + "; " + ranks_text(x_case, stall.absent) +
                           plural(stall.absent.size(), " has", " have") + " nothing open and never called it";
    explanation.why.push_back("made a call that the majority of the group did not make");
    explanation.alternatives.push_back(
        {.category = Category::kCollectiveDesync,
         .cause = "rank_not_entered",
         .speaks_for = {ranks_text(x_case, stall.absent) + " did not enter"},
         .speaks_against = {"they are the majority and wait for nothing"},
         .decide_by = "stacks of both sides: py-spy dump --pid PID on one waiting and one absent rank"});
  }

  std::string place_text(const Explanation& explanation) const {
    return operation_text(x_case, x_case.ranks[explanation.at->rank].operations[explanation.at->operation]);
  }

  bool only_transfers() const {
    for (const RankIndex rank : x_culprits) {
      for (const std::size_t index : x_analysis.waits.ranks[rank].absent_in) {
        if (!x_analysis.waits.stalls[index].transfer) return false;
      }
    }
    return true;
  }

  // Nothing was ever completed by the culprit, and nobody ever completed anything in this group.
  bool never_joined(const Stall& stall) const {
    // Sequence numbers start at 1, in a few versions at 0.
    if (stall.transfer || x_analysis.groups[stall.group].completed > 0 || stall.sequence > 1) return false;
    return std::all_of(x_culprits.begin(), x_culprits.end(), [&](RankIndex index) {
      const Rank& rank = x_case.ranks[index];
      return rank.operations.empty() && !rank.only_active && !rank.wrapped;
    });
  }

  void explain_absence(const Stall& stall, Explanation& explanation) {
    explanation.culprits = x_culprits;
    const bool hidden = hides_transfers(x_case);
    if (hidden) keep_nearest(stall, explanation);
    const bool joined_never = never_joined(stall);
    explanation.category = joined_never ? Category::kInitializationHang : Category::kCollectiveDesync;
    explanation.cause = joined_never       ? "rank_never_joined"
                        : only_transfers() ? "p2p_unmatched"
                                           : "rank_not_entered";
    if (joined_never) explanation.phase = model::Phase::kFirstCollective;
    const auto left = x_analysis.waits.not_explained_by(x_culprits);
    explanation.strength =
        x_analysis.waits.silent().empty() && left.empty() ? Confidence::kHigh : Confidence::kMedium;
    if (hidden && explanation.strength == Confidence::kHigh) explanation.strength = Confidence::kMedium;
    const std::string who = ranks_text(x_case, explanation.culprits);
    const Operation& op = x_case.ranks[explanation.at->rank].operations[explanation.at->operation];
    if (explanation.cause == "p2p_unmatched") {
      const bool is_send = x_case.signature(op).kind == model::OpKind::kSend;
      explanation.headline = who + " never posted the " + (is_send ? "receive" : "send") + " that " +
                             ranks_text(x_case, stall.waiting) +
                             plural(stall.waiting.size(), " waits", " wait") + " for in " +
                             operation_text(x_case, op);
    } else {
      explanation.headline = who + " did not enter " + operation_text(x_case, op) + ", in which " +
                             ranks_text(x_case, stall.waiting) +
                             plural(stall.waiting.size(), " waits", " wait");
    }
    for (const RankIndex rank : explanation.culprits) explanation.why.push_back(why(rank));
    add_alternatives(stall, explanation);
  }

  // Ranks that look idle may wait in a transfer that nobody recorded: only those whom the nearest waiters
  // miss are named.
  void keep_nearest(const Stall& stall, Explanation& explanation) const {
    std::vector<RankIndex> near;
    for (const RankIndex rank : x_culprits) {
      const bool missed = std::find(stall.absent.begin(), stall.absent.end(), rank) != stall.absent.end();
      (missed ? near : explanation.suspects).push_back(rank);
    }
    explanation.culprits = near;
  }

  std::string why(RankIndex index) const {
    const Rank& rank = x_case.ranks[index];
    if (rank.operations.empty()) {
      return rank.only_active ? "has nothing open, and its counters stand behind its peers'"
                              : "recorded no operation at all";
    }
    return "its last call was " + operation_text(x_case, rank.operations.back()) +
           ", which is finished: it waits for nobody";
  }

  void add_alternatives(const Stall& stall, Explanation& explanation) const {
    bool stale_before = false;
    for (const MemberProgress& member : x_analysis.groups[stall.group].members) {
      const bool culprit = std::binary_search(x_culprits.begin(), x_culprits.end(), member.rank);
      if (culprit && member.lag == Lag::kStaleWatchdog) stale_before = true;
    }
    if (stale_before) {
      explanation.alternatives.push_back(
          {.category = Category::kProcessOrDeviceUnavailable,
           .cause = "gpu_not_progressing",
           .speaks_for = {"its last operation is not marked finished although peers finished it"},
           .speaks_against = {"one or two operations are within the watchdog's delay"},
           .decide_by = "nvidia-smi and the kernel log on its host; py-spy dump of the process"});
    }
    explanation.alternatives.push_back(
        {.category = Category::kProcessOrDeviceUnavailable,
         .cause = "process_stopped",
         .speaks_for = {"it calls nothing any more"},
         .speaks_against = {"it still wrote its dump"},
         .decide_by = "py-spy dump --pid PID of " + ranks_text(x_case, x_culprits)});
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
  std::vector<RankIndex> x_culprits;
};

}  // namespace

std::vector<Explanation> find_not_entered(const Analysis& analysis) {
  return NotEntered(analysis).find();
}

}  // namespace unhang::detect
