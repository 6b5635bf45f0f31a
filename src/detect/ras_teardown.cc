// SPDX-License-Identifier: Apache-2.0
//
// A communicator that some ranks have left, or never had, while others have it. RAS shows this falsely while
// communicators are being made, so one answer proves nothing.
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

class RasTeardown {
 public:
  explicit RasTeardown(const Analysis& analysis) : x_case(analysis.joined), x_ras(analysis.ras) {}

  std::vector<Explanation> find() const {
    std::vector<Explanation> out;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      if (auto one = torn_down(state)) out.push_back(std::move(*one));
    }
    return out;
  }

 private:
  // Some ranks have left, or never had, a communicator that others run.
  std::optional<Explanation> torn_down(const RasCommunicatorState& state) const {
    RasNames gone(x_case), ending(x_case);
    bool running = false;
    bool aborted = false;
    for (const RasRank& rank : state.communicator->ranks) {
      if (rank.presence == RasPresence::kNoCommunicator) {
        gone.add(state, rank.rank, "its process does not have this communicator");
      } else if (rank.presence == RasPresence::kAnswered &&
                 (rank.status == RasStatus::kFinalize || rank.status == RasStatus::kAbort)) {
        aborted = aborted || rank.status == RasStatus::kAbort;
        ending.add(state, rank.rank, rank.status == RasStatus::kAbort ? "has aborted it" : "is ending it");
      } else if (rank.presence == RasPresence::kAnswered) {
        running = true;
      }
    }
    const std::size_t ended = ranks_with_status(*state.communicator, RasStatus::kFinalize) +
                              ranks_with_status(*state.communicator, RasStatus::kAbort);
    aborted = aborted || ranks_with_status(*state.communicator, RasStatus::kAbort) > 0;
    if (gone.empty() && ending.empty() && ended == 0) return {};
    if (gone.empty() && !running && !aborted) return {};  // an orderly end
    Explanation explanation;
    explanation.category = Category::kInconclusive;
    explanation.state = model::State::kUnknown;
    explanation.phase = model::Phase::kShutdown;
    explanation.strength = Confidence::kLow;
    const RasNames& odd = gone.empty() ? ending : gone;
    const bool everyone = gone.empty() && !running;
    if (!everyone) odd.make_suspects(explanation);
    if (everyone) {
      explanation.headline =
          "all ranks of " + state.label + " have aborted it: this is the end of a job, not its hang";
    } else if (!gone.empty()) {
      explanation.headline = gone.text() + plural(gone.size(), " does", " do") + " not have " +
                             (gone.tells_communicator() ? "it" : state.label) +
                             ", which others have: destroyed, never made, or still being made";
    } else {
      explanation.headline = (ending.empty() ? std::to_string(ended) + " ranks" : ending.text()) +
                             (aborted ? " aborted " : " ended ") + state.label + ", and others still run it";
    }
    cite_place(x_case, x_ras, state,
               odd.empty() ? "ranks have different status" : odd.text() + ": other status than the rest",
               explanation);
    if (everyone) return explanation;
    explanation.alternatives.push_back(
        {.category = Category::kCollectiveDesync,
         .cause = "group_mismatch",
         .speaks_for = {"if it stays so, those who have it will wait for those who don't"},
         .speaks_against = {"releases 2.27.3 to 2.30.7 show this falsely while communicators are being made"},
         .decide_by = "ask again: what is gone on the next answer was noise"});
    return explanation;
  }

  const model::Case& x_case;
  const RasAnalysis& x_ras;
};

}  // namespace

std::vector<Explanation> find_ras_teardown(const Analysis& analysis) {
  if (!analysis.ras.asked()) return {};
  return weak_is_tentative(RasTeardown(analysis).find());
}

}  // namespace unhang::detect
