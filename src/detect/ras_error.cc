// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous errors that RAS shows. Who reports one noticed it; who caused it is seldom the same.
#include <algorithm>
#include <map>

#include "detect/detector.h"
#include "detect/ras_naming.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::RasRank;

class RasErrors {
 public:
  explicit RasErrors(const Analysis& analysis) : x_case(analysis.joined), x_ras(analysis.ras) {}

  std::vector<Explanation> find() const {
    std::vector<Explanation> out;
    for (const RasCommunicatorState& state : x_ras.communicators) {
      RasNames own(x_case), told(x_case);
      std::map<std::string, std::size_t> words;
      for (const RasRank& rank : state.communicator->ranks) {
        if (!model::is_nccl_error(rank.async_error)) continue;
        ++words[std::string(model::text_of(*rank.async_error))];
        (model::is_own_nccl_error(rank.async_error) ? own : told)
            .add(state, rank.rank, "reports: " + std::string(model::text_of(*rank.async_error)));
      }
      const bool unnamed =
          words.empty() && state.communicator->error &&
          std::none_of(state.communicator->ranks.begin(), state.communicator->ranks.end(),
                       [](const RasRank& rank) { return model::is_nccl_error(rank.init_state); });
      if (words.empty() && !unnamed) continue;
      out.push_back(explain(state, own, told, words));
    }
    return out;
  }

 private:
  Explanation explain(const RasCommunicatorState& state, const RasNames& own, const RasNames& told,
                      const std::map<std::string, std::size_t>& words) const {
    Explanation explanation;
    explanation.category = Category::kTransportStall;
    explanation.cause = "unknown";
    explanation.state = model::State::kStopped;
    explanation.strength = Confidence::kLow;
    // Where most report the same error nobody is its place.
    const bool few =
        !own.empty() && own.size() * 2 < std::max<std::size_t>(state.communicator->ranks.size(), 1);
    few ? own.make_culprits(explanation) : own.make_suspects(explanation);
    Explanation scratch;
    told.make_suspects(scratch);
    explanation.suspects.insert(explanation.suspects.end(), scratch.suspects.begin(), scratch.suspects.end());
    explanation.other_suspects.insert(explanation.other_suspects.end(), scratch.other_suspects.begin(),
                                      scratch.other_suspects.end());
    std::string text;
    for (const auto& [word, count] : words) {
      if (!text.empty()) text += ", ";
      text += word + " on " + std::to_string(count) + plural(count, " rank", " ranks");
    }
    if (words.empty()) text = "asynchronous errors that the answer does not name";
    explanation.headline = state.label + " reports " + text;
    if (own.empty() && !told.empty())
      explanation.headline += ": whoever reports it noticed, the cause is elsewhere";
    cite_place(x_case, x_ras, state, text, explanation);
    explanation.alternatives.push_back(
        {.category = Category::kProcessOrDeviceUnavailable,
         .cause = "process_exited",
         .speaks_for = {"a peer that ended shows as a remote or system error on those who talk to it"},
         .speaks_against = {"every process answers RAS"},
         .decide_by = "the NCCL WARN lines of these ranks, the earliest first"});
    return explanation;
  }

  const model::Case& x_case;
  const RasAnalysis& x_ras;
};

}  // namespace

std::vector<Explanation> find_ras_error(const Analysis& analysis) {
  if (!analysis.ras.asked()) return {};
  return weak_is_tentative(RasErrors(analysis).find());
}

}  // namespace unhang::detect
