// SPDX-License-Identifier: Apache-2.0
//
// Ranks that have launched fewer operations than the majority of their communicator, or other ones. One
// answer proves nothing: counts differ all the time while a job runs. What stood still between answers does.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/duration.h"
#include "detect/detector.h"
#include "detect/ras_counts.h"
#include "detect/ras_entered.h"
#include "detect/ras_naming.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::RasRank;

constexpr std::int64_t kLongEnough =
    30'000'000'000;  // standing still for this long is no pause between steps

// A rank of the job, or where that is not known the process and device.
using Who = std::tuple<std::int32_t, std::uint64_t, std::int64_t, std::string>;

Who who_is(const model::RasCommunicator& communicator, std::int32_t number) {
  const RasRank* rank = find_rank(communicator, number);
  if (rank == nullptr || (rank->global_rank < 0 && rank->pid < 0)) return {number, communicator.hash, -1, ""};
  if (rank->global_rank >= 0) return {rank->global_rank, 0, -1, ""};
  return {rank->cuda_device, 0, rank->pid, rank->host};
}

class RasLag {
 public:
  explicit RasLag(const Analysis& analysis)
      : x_case(analysis.joined), x_analysis(analysis), x_ras(analysis.ras) {
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (!lags(state)) continue;
      for (const RasRank& rank : state.communicator->ranks) {
        if (rank.presence == model::RasPresence::kAnswered && !behind(state, rank.rank))
          x_waiting.insert(who_is(*state.communicator, rank.rank));
      }
    }
    find_unnamed_waiters();
    // Who stands in an operation, by its dump or by its counts where others stand, is there, whatever it has
    // not launched elsewhere.
    for (model::RankIndex index = 0; index < x_case.ranks.size(); ++index) {
      const RankWaits& waits = x_analysis.waits.ranks[index];
      if (waits.waits() || waits.stands() || waits.counted)
        x_stands.insert(Who{x_case.ranks[index].global_rank, 0, -1, ""});
    }
  }

  std::vector<Explanation> find() const {
    std::vector<Explanation> out;
    add(out, other_operation());
    add(out, laggards());
    if (!out.empty()) return out;
    for (const auto& unclear : {&RasLag::unnamed, &RasLag::tie, &RasLag::leaders}) {
      add(out, (this->*unclear)());
      if (!out.empty()) break;
    }
    return out;
  }

 private:
  static void add(std::vector<Explanation>& out, std::optional<Explanation> one) {
    if (one) out.push_back(std::move(*one));
  }

  static bool behind(const RasCommunicatorState& state, std::int32_t rank) {
    return std::binary_search(state.skew.laggards.begin(), state.skew.laggards.end(), rank) ||
           std::binary_search(state.skew.other_operation.begin(), state.skew.other_operation.end(), rank);
  }

  // How sure, and in which state: both follow from how long it was watched.
  void judge(const std::vector<const RasCommunicatorState*>& states, Explanation& explanation) const {
    const bool all_stand =
        std::all_of(states.begin(), states.end(), [](const auto* state) { return state->stands; });
    explanation.strength = Confidence::kLow;
    explanation.state = model::State::kUnknown;
    if (!all_stand) {
      // A stall in the dumps is the second witness: the same rank that RAS sees behind.
      if (!x_analysis.waits.stalls.empty()) explanation.state = model::State::kStopped;
      return;
    }
    explanation.state = model::State::kStopped;
    const std::int64_t watched = states.front()->progress.seen_ns - states.front()->progress.watched_since_ns;
    explanation.strength = watched >= kLongEnough ? Confidence::kHigh : Confidence::kMedium;
    explanation.rules_out.push_back("a passing difference: nothing moved for " +
                                    base::format_duration(std::chrono::seconds(watched / 1'000'000'000)));
  }

  void ask_again(Explanation& explanation) const {
    if (explanation.state == model::State::kStopped) return;
    explanation.alternatives.push_back(
        {.category = Category::kHealthy,
         .cause = "unknown",
         .speaks_for = {"counts differ in every running job: one answer does not show whether they move"},
         .speaks_against = {},
         .decide_by = "ask again some seconds later: unhang ras watch"});
  }

  void place(const RasCommunicatorState& state, Explanation& explanation) const {
    model::Where where;
    where.group = state.label;
    for (const RasCountSkew& skew : state.skew.counts) {
      if (skew.laggards.empty() && skew.unnamed_laggards == 0 && !skew.tie) continue;
      where.operation = std::string(model::name_of(skew.collective));
      where.ordinal = static_cast<std::int64_t>(std::min<std::uint64_t>(skew.majority, INT64_MAX));
      break;
    }
    explanation.where = std::move(where);
  }

  void cite(const RasCommunicatorState& state, Explanation& explanation) const {
    explanation.records.push_back(cite_communicator(x_case, x_ras, *state.communicator, counts_text(state)));
  }

  void add_waiting(const RasCommunicatorState& state, Explanation& explanation) const {
    for (const RasRank& rank : state.communicator->ranks) {
      if (rank.presence != model::RasPresence::kAnswered || behind(state, rank.rank)) continue;
      if (const auto index = case_rank(x_case, rank)) explanation.waiting.push_back(*index);
    }
    std::sort(explanation.waiting.begin(), explanation.waiting.end());
    explanation.waiting.erase(std::unique(explanation.waiting.begin(), explanation.waiting.end()),
                              explanation.waiting.end());
  }

  std::optional<Explanation> other_operation() const {
    RasNames names(x_case);
    std::vector<const RasCommunicatorState*> states;
    Explanation explanation;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (state.moving || state.skew.other_operation.empty()) continue;
      states.push_back(&state);
      for (const std::int32_t rank : state.skew.other_operation)
        names.add(state, rank, count_of(state, rank));
      cite(state, explanation);
      add_waiting(state, explanation);
    }
    if (states.empty()) return {};
    explanation.category = Category::kCollectiveDesync;
    explanation.cause = "op_mismatch";
    judge(states, explanation);
    names.make_culprits(explanation);
    place(*states.front(), explanation);
    explanation.headline = names.text() + " launched another operation than the others of " +
                           states.front()->label + ": more of one kind and fewer of another";
    ask_again(explanation);
    return explanation;
  }

  std::optional<Explanation> laggards() const {
    RasNames roots(x_case), all(x_case);
    std::vector<const RasCommunicatorState*> states;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (!lags(state)) continue;
      bool here = false;
      for (const std::int32_t rank : state.skew.laggards) {
        if (x_stands.count(who_is(*state.communicator, rank)) != 0) continue;
        all.add(state, rank, count_of(state, rank));
        // It waits for somebody in another communicator: a victim.
        if (x_waiting.count(who_is(*state.communicator, rank)) != 0) continue;
        // It may wait for those who launched even less.
        if (!furthest_behind(state, rank)) continue;
        if (x_perhaps_waiting.count(who_is(*state.communicator, rank)) != 0) continue;
        roots.add(state, rank, count_of(state, rank));
        here = true;
      }
      if (here) states.push_back(&state);
    }
    if (all.empty()) return {};
    if (roots.empty()) return circle(all);
    Explanation explanation;
    explanation.category = Category::kCollectiveDesync;
    explanation.cause = "rank_not_entered";
    judge(states, explanation);
    roots.make_culprits(explanation);
    if (std::any_of(explanation.culprits.begin(), explanation.culprits.end(),
                    [&](model::RankIndex rank) { return awaited_uncounted(x_case, x_analysis.waits, rank); }))
      explanation.strength = Confidence::kLow;
    suspect_the_rest(all, roots, explanation);
    for (const RasCommunicatorState* state : states) {
      cite(*state, explanation);
      add_waiting(*state, explanation);
    }
    std::erase_if(explanation.waiting, [&](model::RankIndex rank) {
      return std::binary_search(explanation.culprits.begin(), explanation.culprits.end(), rank);
    });
    const RasCommunicatorState& shown = **std::max_element(
        states.begin(), states.end(),
        [](const auto* a, const auto* b) { return a->communicator->size < b->communicator->size; });
    place(shown, explanation);
    explanation.phase = first_operation(shown) ? model::Phase::kFirstCollective : model::Phase::kSteady;
    explanation.headline = roots.text() + plural(roots.size(), " is behind in ", " are behind in ") +
                           collectives_text(shown) +
                           (roots.tells_communicator() ? std::string() : " of " + shown.label) +
                           numbers_text(shown, roots.size());
    explanation.rules_out.push_back("a lost process: it answers RAS");
    ask_again(explanation);
    return explanation;
  }

  // A text answer does not say who waits in a communicator, only how many. Of ranks that are equally far
  // behind, those that are behind in fewer communicators may wait in the others, unnamed.
  void find_unnamed_waiters() {
    std::map<Who, std::size_t> depth;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (!lags(state) || !has_unnamed_waiters(state)) continue;
      for (const std::int32_t rank : state.skew.laggards) ++depth[who_is(*state.communicator, rank)];
    }
    if (depth.empty()) return;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (!lags(state)) continue;
      std::size_t most = 0;
      std::vector<std::pair<Who, std::size_t>> furthest;
      for (const std::int32_t rank : state.skew.laggards) {
        if (!furthest_behind(state, rank)) continue;
        const auto known = depth.find(who_is(*state.communicator, rank));
        furthest.emplace_back(who_is(*state.communicator, rank), known == depth.end() ? 0 : known->second);
        most = std::max(most, furthest.back().second);
      }
      for (const auto& [who, count] : furthest)
        if (count < most) x_perhaps_waiting.insert(who);
    }
  }

  static bool lags(const RasCommunicatorState& state) {
    return !state.moving && !state.skew.tie && !state.skew.laggards.empty();
  }

  static bool has_unnamed_waiters(const RasCommunicatorState& state) {
    const auto& ranks = state.communicator->ranks;
    const auto known = std::count_if(ranks.begin(), ranks.end(), [](const RasRank& rank) {
      return rank.global_rank >= 0 || rank.pid >= 0;
    });
    return std::cmp_less(std::max<std::size_t>(static_cast<std::size_t>(known), state.skew.laggards.size()),
                         state.communicator->size);
  }

  static bool furthest_behind(const RasCommunicatorState& state, std::int32_t number) {
    const RasRank* rank = find_rank(*state.communicator, number);
    return std::any_of(state.skew.counts.begin(), state.skew.counts.end(), [&](const RasCountSkew& skew) {
      return !skew.laggards.empty() && rank != nullptr &&
             rank->counts[static_cast<std::size_t>(skew.collective)] == skew.least;
    });
  }

  static bool first_operation(const RasCommunicatorState& state) {
    return std::any_of(state.skew.counts.begin(), state.skew.counts.end(),
                       [](const RasCountSkew& skew) { return !skew.laggards.empty() && skew.majority <= 1; });
  }

  static void suspect_the_rest(const RasNames& all, const RasNames& roots, Explanation& explanation) {
    if (all.size() == roots.size()) return;
    all.make_suspects(explanation);
    std::erase_if(explanation.suspects, [&](model::RankIndex rank) {
      return std::binary_search(explanation.culprits.begin(), explanation.culprits.end(), rank);
    });
    std::set<std::pair<std::string, std::int32_t>> blamed;
    for (const model::Subject& culprit : explanation.other_culprits)
      blamed.emplace(culprit.group, culprit.group_rank.value_or(-1));
    std::erase_if(explanation.other_suspects, [&](const model::Subject& suspect) {
      return blamed.count({suspect.group, suspect.group_rank.value_or(-1)}) != 0;
    });
  }

  // Each is behind in one communicator and waits in another.
  std::optional<Explanation> circle(const RasNames& all) const {
    Explanation explanation;
    explanation.category = Category::kInconclusive;
    explanation.state = model::State::kUnknown;
    all.make_suspects(explanation);
    explanation.headline = all.text() +
                           " are behind in one communicator and wait in another: RAS does not tell "
                           "which came first";
    explanation.alternatives.push_back(
        {.category = Category::kCollectiveDesync,
         .cause = "order_inversion",
         .speaks_for = {"a circle of ranks that wait for each other looks like this"},
         .speaks_against = {"counts are of one moment"},
         .decide_by = "Flight Recorder dumps of these ranks, or their stacks"});
    return explanation;
  }

  // A text answer says how many, and not who.
  std::optional<Explanation> unnamed() const {
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (state.moving || state.skew.tie) continue;
      for (const RasCountSkew& skew : state.skew.counts) {
        if (skew.unnamed_laggards == 0) continue;
        Explanation explanation;
        explanation.category = Category::kCollectiveDesync;
        explanation.cause = "rank_not_entered";
        judge({&state}, explanation);
        explanation.strength = Confidence::kLow;
        cite(state, explanation);
        place(state, explanation);
        explanation.headline = std::to_string(skew.unnamed_laggards) +
                               plural(skew.unnamed_laggards, " rank is", " ranks are") + " behind in " +
                               counted(skew.collective) + " of " + state.label +
                               "; this text answer does not name them: ask for JSON";
        ask_again(explanation);
        return explanation;
      }
    }
    return {};
  }

  std::optional<Explanation> tie() const {
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (state.moving || !state.skew.tie) continue;
      Explanation explanation;
      explanation.category = Category::kInconclusive;
      judge({&state}, explanation);
      explanation.strength = Confidence::kLow;
      RasNames names(x_case);
      for (const std::int32_t rank : state.skew.laggards) names.add(state, rank, count_of(state, rank));
      names.make_suspects(explanation);
      cite(state, explanation);
      place(state, explanation);
      const auto tied = std::find_if(state.skew.counts.begin(), state.skew.counts.end(),
                                     [](const RasCountSkew& skew) { return skew.tie; });
      explanation.headline = "a tie in " + state.label + ": its ranks launched " +
                             std::to_string(tied->least) + " to " + std::to_string(tied->most) + " " +
                             counted(tied->collective) + ", and there is no majority to say who is late";
      ask_again(explanation);
      return explanation;
    }
    return {};
  }

  std::optional<Explanation> leaders() const {
    for (const RasCommunicatorState& state : x_ras.communicators) {
      const auto unnamed = most_unnamed_leaders(state);
      if (state.moving || state.skew.tie || (state.skew.leaders.empty() && unnamed == 0)) continue;
      Explanation explanation;
      RasNames names(x_case);
      for (const std::int32_t rank : state.skew.leaders) names.add(state, rank, count_of(state, rank));
      judge({&state}, explanation);
      cite(state, explanation);
      place(state, explanation);
      const std::size_t ahead = names.empty() ? unnamed : names.size();
      const std::string who =
          (names.empty() ? std::to_string(ahead) + plural(ahead, " rank", " ranks") : names.text()) +
          plural(ahead, " is", " are") + " ahead of the majority" +
          (names.tells_communicator() ? std::string() : " in " + state.label);
      if (!state.stands || names.empty()) {
        // Where the service itself calls it a mismatch, that is what it is, whoever is to blame.
        const auto& rows = x_ras.latest->rows;
        const bool told = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.mismatch; });
        explanation.category = told && !names.empty() ? Category::kCollectiveDesync : Category::kInconclusive;
        names.make_suspects(explanation);
        explanation.headline = who + (names.empty() ? "; this text answer does not name them: ask for JSON"
                                                    : ": the others may be about to follow");
        ask_again(explanation);
        return explanation;
      }
      explanation.category = Category::kCollectiveDesync;
      explanation.cause = "extra_collective";
      explanation.strength = Confidence::kMedium;
      names.make_culprits(explanation);
      explanation.headline = who + ", and the others do not follow";
      explanation.alternatives.push_back(
          {.category = Category::kCollectiveDesync,
           .cause = "rank_not_entered",
           .speaks_for = {"the majority may have missed the call"},
           .speaks_against = {"it is the majority"},
           .decide_by = "stacks of one rank of each side: py-spy dump --pid PID"});
      return explanation;
    }
    return {};
  }

  const model::Case& x_case;
  const Analysis& x_analysis;
  const RasAnalysis& x_ras;
  std::set<Who> x_waiting;  // ranks that wait for laggards of some communicator
  std::set<Who> x_stands;
  std::set<Who> x_perhaps_waiting;
};

}  // namespace

std::vector<Explanation> find_ras_lag(const Analysis& analysis) {
  if (!analysis.ras.asked()) return {};
  std::vector<Explanation> out = RasLag(analysis).find();
  // An engine that makes tokens, or has none to make, is not stopped, whatever the counts say: what it
  // replays from CUDA graphs is not counted.
  const bool lives = std::any_of(analysis.engines.begin(), analysis.engines.end(), [](const auto& engine) {
    return engine.timed && engine.judgement.usable &&
           (engine.judgement.movement == EngineMovement::kAdvancing ||
            engine.judgement.movement == EngineMovement::kIdle);
  });
  for (Explanation& explanation : out) {
    explanation.tentative = explanation.strength == Confidence::kLow;
    if (lives && analysis.waits.stalls.empty()) explanation.explains_stall = false;
  }
  return out;
}

}  // namespace unhang::detect
