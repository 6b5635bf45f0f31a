// SPDX-License-Identifier: Apache-2.0
//
// A communicator that RAS shows as still being made, or whose making failed on some rank.
#include <algorithm>
#include <map>

#include "detect/detector.h"
#include "detect/ras_naming.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;

class RasInitialization {
 public:
  explicit RasInitialization(const Analysis& analysis) : x_case(analysis.joined), x_ras(analysis.ras) {}

  std::vector<Explanation> find() const {
    std::vector<Explanation> out;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (auto failure = init_failure(state)) {
        out.push_back(std::move(*failure));
      } else if (auto unfinished = init_unfinished(state)) {
        out.push_back(std::move(*unfinished));
      }
    }
    return out;
  }

 private:
  std::optional<Explanation> init_failure(const RasCommunicatorState& state) const {
    RasNames own(x_case), told(x_case);
    std::string text;
    for (const RasRank& rank : state.communicator->ranks) {
      if (!model::is_nccl_error(rank.init_state)) continue;
      text = std::string(model::text_of(*rank.init_state));
      (model::is_own_nccl_error(rank.init_state) ? own : told)
          .add(state, rank.rank, "its initialisation failed: " + text);
    }
    if (own.empty() && told.empty()) return {};
    Explanation explanation;
    explanation.category = Category::kInitializationHang;
    explanation.cause = "unknown";
    explanation.phase = model::Phase::kInit;
    explanation.strength = own.empty() ? Confidence::kLow : Confidence::kMedium;
    own.make_culprits(explanation);
    told.make_suspects(explanation);
    const RasNames& shown = own.empty() ? told : own;
    explanation.headline = "initialisation of " + state.label + " failed on " + shown.text() + ": " + text;
    cite_place(x_case, x_ras, state, "initialisation error on " + shown.text(), explanation);
    return explanation;
  }

  std::optional<Explanation> init_unfinished(const RasCommunicatorState& state) const {
    RasNames names(x_case);
    std::size_t answered = 0;
    for (const RasRank& rank : state.communicator->ranks) {
      answered += rank.presence == RasPresence::kAnswered ? 1 : 0;
      if (rank.presence == RasPresence::kAnswered && rank.status == RasStatus::kInit)
        names.add(state, rank.rank, "is still initialising");
    }
    const std::size_t shared = ranks_with_status(*state.communicator, RasStatus::kInit);
    const std::size_t count = std::max(names.size(), shared);
    if (count == 0) return {};
    Explanation explanation;
    explanation.phase = model::Phase::kInit;
    explanation.state = model::State::kStarting;
    explanation.strength = Confidence::kLow;
    const bool everyone =
        count >= std::max<std::size_t>(answered, 1) || std::cmp_equal(count, state.communicator->size);
    const bool known_to_last = x_ras.watched_ns.value_or(0) >= 30'000'000'000 && !state.moving;
    explanation.category =
        known_to_last || !everyone ? Category::kInitializationHang : Category::kInconclusive;
    if (known_to_last) explanation.state = model::State::kStopped;
    if (!everyone && !known_to_last) explanation.state = model::State::kUnknown;
    cite_place(x_case, x_ras, state, std::to_string(count) + " ranks are still initialising", explanation);
    if (everyone) {
      explanation.headline =
          "all " + std::to_string(count) + " ranks of " + state.label + " are still initialising";
    } else {
      explanation.cause = "rank_never_joined";
      names.make_culprits(explanation);
      explanation.headline = (names.empty() ? std::to_string(count) + " ranks" : names.text()) +
                             plural(count, " is", " are") + " still initialising " + state.label +
                             ", the others have finished";
    }
    explanation.alternatives.push_back(
        {.category = Category::kHealthy,
         .cause = "unknown",
         .speaks_for = {"initialisation takes seconds to minutes in a large job"},
         .speaks_against = {},
         .decide_by = "are they the same ranks a minute later? unhang ras status"});
    return explanation;
  }

  const model::Case& x_case;
  const RasAnalysis& x_ras;
};

}  // namespace

std::vector<Explanation> find_ras_initialization(const Analysis& analysis) {
  if (!analysis.ras.asked()) return {};
  return weak_is_tentative(RasInitialization(analysis).find());
}

}  // namespace unhang::detect
