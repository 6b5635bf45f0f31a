// SPDX-License-Identifier: Apache-2.0
#include "detect/stack_reason.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "detect/process_looks.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;

constexpr std::array<std::string_view, 5> kAbsent{"rank_not_entered", "rank_never_joined", "rank_silent",
                                                  "p2p_unmatched", "unknown"};

bool lacks_reason(const Explanation& shown) {
  return shown.root.empty() && std::find(kAbsent.begin(), kAbsent.end(), shown.cause) != kAbsent.end();
}

// Of an earlier moment: what it did then is not why it is missing now.
bool is_older(const model::Case& joined, const Explanation& shown, const ProcessLook& look) {
  if (!shown.at || !look.reading->sample.taken_ns) return false;
  const std::int64_t called = joined.ranks[shown.at->rank].operations[shown.at->operation].created_ns;
  return called > 0 && *look.reading->sample.taken_ns < called;
}

// Logs and RAS may name a rank that the Case has no dump of.
bool is_blamed(const model::Case& joined, const Explanation& shown, const ProcessLook& look) {
  const std::int32_t rank = look.reading->sample.rank;
  if (rank < 0) return false;
  return std::any_of(shown.culprits.begin(), shown.culprits.end(),
                     [&](model::RankIndex index) { return joined.ranks[index].global_rank == rank; }) ||
         std::any_of(shown.other_culprits.begin(), shown.other_culprits.end(),
                     [&](const model::Subject& subject) { return subject.rank == rank; });
}

void tell(const ProcessLook& look, Explanation& out) {
  if (look.stand == Stand::kStopped) {
    out.category = Category::kProcessOrDeviceUnavailable;
    out.cause = "process_stopped";
    return;
  }
  if (look.stand != Stand::kHostWork) return;
  out.root = "host_blocked";
  if (out.cause != "rank_silent") return;
  // It left no dump, and lives.
  out.category = Category::kCollectiveDesync;
  out.cause = "rank_not_entered";
  out.strength = Confidence::kMedium;
}

}  // namespace

std::optional<Explanation> with_stack_reason(const model::Case& joined, const Explanation& shown) {
  if (!lacks_reason(shown) || joined.processes.empty()) return {};
  std::optional<Explanation> out;
  for (const ProcessLook& look : latest_looks(joined)) {
    if (!is_blamed(joined, shown, look) || is_older(joined, shown, look)) continue;
    if (!out) out = shown;
    const bool first = out->records.size() == shown.records.size();
    if (first) out->headline += "; " + stand_text(look);
    if (out->records.size() < shown.records.size() + 8) out->records.push_back(cite(joined, look));
    if (out->root.empty() && out->cause == shown.cause) tell(look, *out);
  }
  return out;
}

}  // namespace unhang::detect
