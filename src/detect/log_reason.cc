// SPDX-License-Identifier: Apache-2.0
#include "detect/log_reason.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace unhang::detect {
namespace {

using model::Category;

constexpr std::string_view kWithoutReason[] = {"rank_silent",    "rank_not_entered",    "rank_never_joined",
                                               "process_exited", "gpu_not_progressing", "unknown"};

bool lacks_reason(const Explanation& shown) {
  return shown.root.empty() && std::find(std::begin(kWithoutReason), std::end(kWithoutReason), shown.cause) !=
                                   std::end(kWithoutReason);
}

// The one who is blamed by name in both has to be the same.
bool contradicts(const model::Case& joined, const Explanation& shown, const Explanation& told) {
  std::set<std::int32_t> ranks;
  std::set<std::string> hosts;
  for (const model::RankIndex index : shown.culprits) {
    ranks.insert(joined.ranks[index].global_rank);
    if (!joined.ranks[index].host.empty()) hosts.insert(joined.ranks[index].host);
  }
  if (ranks.empty()) return false;
  bool named = false;
  for (const auto* list : {&told.other_culprits, &told.other_suspects}) {
    for (const model::Subject& subject : *list) {
      if (subject.rank) {
        named = true;
        if (ranks.count(*subject.rank) != 0) return false;
      } else if (!subject.host.empty() && !hosts.empty()) {
        named = true;
        if (hosts.count(subject.host) != 0) return false;
      }
    }
  }
  return named;
}

bool names_the_same(const model::Case& joined, const Explanation& shown, const Explanation& told) {
  return std::any_of(
      told.other_culprits.begin(), told.other_culprits.end(), [&](const model::Subject& subject) {
        return subject.rank &&
               std::any_of(shown.culprits.begin(), shown.culprits.end(), [&](model::RankIndex index) {
                 return joined.ranks[index].global_rank == *subject.rank;
               });
      });
}

}  // namespace

std::optional<Explanation> with_reason(const model::Case& joined, const Explanation& shown,
                                       const Explanation& told) {
  if (told.tentative || !told.explains_stall || !lacks_reason(shown) || contradicts(joined, shown, told))
    return {};
  const bool in_network = told.category == Category::kTransportStall;
  // Who is missing is not explained by a network that fails between others.
  if (in_network && !shown.culprits.empty() && told.other_culprits.empty()) return {};
  if (told.category == Category::kCollectiveDesync && told.root.empty()) return {};
  if (told.category == Category::kInconclusive || told.category == Category::kPerformanceDegradation)
    return {};
  Explanation out = shown;
  out.records.insert(out.records.end(), told.records.begin(), told.records.end());
  const bool gone = told.category == Category::kProcessOrDeviceUnavailable;
  if (gone || in_network) {
    out.category = told.category;
    out.cause = told.cause;
    out.root = told.root;
    out.state = told.state;
    // The weaker of the two (kLow is the largest), unless both name the same rank: two witnesses.
    out.strength = names_the_same(joined, shown, told) ? std::min(shown.strength, told.strength)
                                                       : std::max(shown.strength, told.strength);
    if (out.culprits.empty()) out.other_culprits = told.other_culprits;
    out.headline = told.headline + "; " + shown.headline;
  } else {
    out.root = told.root.empty() ? std::string(told.cause) : told.root;
    out.headline = shown.headline + "; " + told.headline;
  }
  return out;
}

}  // namespace unhang::detect
