// SPDX-License-Identifier: Apache-2.0
//
// Ranks that the others wait for and that left no usable dump. They may have died; more often the file was
// just not copied. So: low confidence, and the first advice is to look for it.
#include <algorithm>

#include "base/check.h"
#include "detect/detector.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {

std::vector<Explanation> find_silent_rank(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  const auto silent = analysis.waits.silent();
  if (silent.empty()) return {};
  const Stall* first = nullptr;
  for (const model::RankIndex rank : silent) {
    for (const std::size_t index : analysis.waits.ranks[rank].unknown_in) {
      const Stall& stall = analysis.waits.stalls[index];
      if (first == nullptr || stall.since_ns < first->since_ns) first = &stall;
    }
  }
  CHECK(first != nullptr);  // silent ranks are those that somebody waits for
  Explanation explanation;
  explanation.category = model::Category::kProcessOrDeviceUnavailable;
  explanation.cause = "rank_silent";
  explanation.strength = model::Confidence::kLow;
  // Most dumps missing: they were not copied, and nobody in particular can be meant.
  const bool most = silent.size() * 2 > joined.ranks.size();
  // Where other sources were asked, too, and none of them tells the one that is gone from those whose dumps
  // got lost, each of several may be innocent.
  const bool any_of_several = silent.size() > 1 && (analysis.ras.asked() || analysis.logs.present());
  (most || any_of_several ? explanation.suspects : explanation.culprits) = silent;
  if (most) explanation.category = model::Category::kInconclusive;
  if (most) explanation.cause = "unknown";
  for (const model::RankIndex rank : silent) {
    explanation.why.push_back(joined.ranks[rank].input ? "its dump does not reach to the end"
                                                       : "no readable dump of it is among the inputs");
  }
  explanation.at = place_of(analysis, *first);
  explanation.evidence.push_back(*explanation.at);
  const std::string who = ranks_text(joined, silent);
  explanation.headline =
      who + plural(silent.size(), " left no usable dump, and ", " left no usable dumps, and ") +
      ranks_text(joined, first->waiting) + plural(first->waiting.size(), " waits", " wait") + " in " +
      operation_text(joined, joined.ranks[explanation.at->rank].operations[explanation.at->operation]);
  explanation.alternatives.push_back(
      {.category = model::Category::kTransportStall,
       .cause = "unknown",
       .speaks_for = {"if it had entered too, the data itself would not be moving"},
       .speaks_against = {},
       .decide_by =
           "find the dump of " + who + " on its host (TORCH_FR_DUMP_TEMP_FILE), then diagnose again"});
  explanation.alternatives.push_back(
      {.category = model::Category::kCollectiveDesync,
       .cause = "rank_not_entered",
       .speaks_for = {"a live process that is blocked outside NCCL may write no dump"},
       .speaks_against = {},
       .decide_by = "is the process alive? py-spy dump --pid PID on its host"});
  return {std::move(explanation)};
}

}  // namespace unhang::detect
