// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_alternatives.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/rank_set.h"
#include "model/cause.h"

namespace unhang::detect {
namespace {

using model::Category;
using Ranks = std::set<std::int32_t>;

Ranks culprits_of(const model::Case& joined, const Explanation& explanation) {
  Ranks out;
  for (const model::RankIndex index : explanation.culprits) out.insert(joined.ranks[index].global_rank);
  for (const model::Subject& subject : explanation.other_culprits) {
    if (subject.rank) out.insert(*subject.rank);
  }
  return out;
}

bool is_subset(const Ranks& inner, const Ranks& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

// Causes that say who, and not why: any cause that names the same ranks holds them, too.
bool says_only_who(std::string_view cause) {
  for (const std::string_view vague :
       {"rank_not_entered", "rank_silent", "rank_never_joined", "process_exited", "unknown"}) {
    if (cause == vague) return true;
  }
  return false;
}

// A witness for the chosen one, or nothing of its own.
bool adds_nothing(const model::Case& joined, const Explanation& chosen, const Explanation& other) {
  if (!other.explains_stall || other.category == Category::kHealthy) return true;
  if (other.cause == chosen.cause && other.category == chosen.category) return true;
  if (other.category == Category::kInconclusive && other.cause == "unknown") return true;
  const Ranks theirs = culprits_of(joined, other);
  return says_only_who(other.cause) && !theirs.empty() && is_subset(theirs, culprits_of(joined, chosen));
}

std::string ranks_words(const Ranks& ranks) {
  const std::vector<std::int32_t> list(ranks.begin(), ranks.end());
  return (list.size() == 1 ? "rank " : "ranks ") + base::fold_ranks(list);
}

std::vector<std::string> against(const model::Case& joined, const Explanation& chosen,
                                 const Explanation& other) {
  std::vector<std::string> out;
  const Ranks named = culprits_of(joined, chosen);
  const Ranks theirs = culprits_of(joined, other);
  if (!theirs.empty() && !named.empty() && !is_subset(theirs, named))
    out.push_back("the others wait for " + ranks_words(named) + ", not for " + ranks_words(theirs));
  if (other.category == Category::kTransportStall) {
    for (const std::string& text : chosen.rules_out) {
      if (text.starts_with("transport")) out.push_back(text);
    }
  }
  if (theirs.empty() && !named.empty())
    out.push_back("it does not say why " + ranks_words(named) + " would be missing");
  if (other.strength > chosen.strength || other.tentative)
    out.push_back("its evidence is weaker (" + std::string(model::name_of(other.strength)) + ")");
  if (out.empty()) out.emplace_back("what is named above is sufficient, and comes first");
  return out;
}

// The first sentence of the catalogue's check, or all of it where it is a command.
std::string check_of(std::string_view cause) {
  const model::CauseInfo* info = model::find_cause(cause);
  if (info == nullptr || info->confirm.empty()) return "unhang explain " + std::string(cause);
  const std::size_t stop = info->confirm.find(". ");
  return std::string(stop == std::string_view::npos ? info->confirm : info->confirm.substr(0, stop));
}

}  // namespace

std::vector<model::Alternative> rank_alternatives(const model::Case& joined, const Explanation& chosen,
                                                  std::vector<const Explanation*> others) {
  std::erase_if(others, [&](const Explanation* other) { return adds_nothing(joined, chosen, *other); });
  std::stable_sort(others.begin(), others.end(), [](const Explanation* a, const Explanation* b) {
    return std::pair(a->tentative, a->strength) < std::pair(b->tentative, b->strength);
  });
  std::vector<model::Alternative> out = chosen.alternatives;
  for (const Explanation* other : others) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const model::Alternative& known) {
      return known.category == other->category && known.cause == other->cause;
    });
    if (same != out.end()) {
      if (std::find(same->speaks_for.begin(), same->speaks_for.end(), other->headline) ==
          same->speaks_for.end())
        same->speaks_for.push_back(other->headline);
      continue;
    }
    out.push_back({.category = other->category,
                   .cause = other->cause,
                   .speaks_for = {other->headline},
                   .speaks_against = against(joined, chosen, *other),
                   .decide_by = check_of(other->cause)});
  }
  return out;
}

}  // namespace unhang::detect
