// SPDX-License-Identifier: Apache-2.0
#include "detect/log_reason.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::RankIndex;

constexpr std::string_view kWithoutReason[] = {"rank_silent",     "rank_not_entered",    "rank_never_joined",
                                               "process_exited",  "gpu_not_progressing", "unknown",
                                               "node_unreachable"};

// That the host is blocked says where, not why.
bool lacks_reason(const Explanation& shown) {
  return (shown.root.empty() || shown.root == "host_blocked") &&
         std::find(std::begin(kWithoutReason), std::end(kWithoutReason), shown.cause) !=
             std::end(kWithoutReason);
}

// Whom the log blames, in terms of ranks.
class Told {
 public:
  Told(const RankNames& names, const Explanation& told) : x_names(names) {
    for (const auto* list : {&told.other_culprits, &told.other_suspects}) {
      for (const model::Subject& subject : *list) add(subject);
    }
  }

  // A host says nothing where nobody knows on which hosts the others are.
  bool names_somebody(bool hosts_known) const {
    return !x_ranks.empty() || (hosts_known && !x_hosts.empty());
  }

  // Null: not this rank. Of a host whose ranks nobody knows, its name decides.
  const model::Subject* blames(const model::Rank& rank) const {
    if (const auto at = x_ranks.find(rank.global_rank); at != x_ranks.end()) return at->second;
    if (rank.host.empty()) return nullptr;
    const auto at = x_hosts.find(rank.host);
    return at == x_hosts.end() ? nullptr : at->second;
  }
  bool blames_by_rank(const model::Rank& rank) const { return x_ranks.count(rank.global_rank) != 0; }

 private:
  void add(const model::Subject& subject) {
    const std::vector<std::int32_t> ranks = x_names.of(subject);
    for (const std::int32_t rank : ranks) x_ranks.emplace(rank, &subject);
    if (ranks.empty() && !subject.host.empty()) x_hosts.emplace(subject.host, &subject);
  }

  const RankNames& x_names;
  std::map<std::int32_t, const model::Subject*> x_ranks;
  std::map<std::string, const model::Subject*> x_hosts;
};

// What the log says of each culprit goes before what was shown of it.
void keep_culprits(const model::Case& joined, const Told& told, bool narrow, Explanation& out) {
  std::vector<RankIndex> culprits;
  std::vector<std::string> why;
  for (std::size_t i = 0; i < out.culprits.size(); ++i) {
    const model::Rank& rank = joined.ranks[out.culprits[i]];
    const model::Subject* blamed = told.blames(rank);
    if (blamed == nullptr && narrow) {
      out.suspects.push_back(out.culprits[i]);
      continue;
    }
    const std::string shown = out.why.empty() ? "" : out.why[std::min(i, out.why.size() - 1)];
    const std::string said = blamed == nullptr ? "" : blamed->why;
    why.push_back(said.empty() || shown.empty() ? said + shown : said + "; " + shown);
    culprits.push_back(out.culprits[i]);
  }
  out.culprits = std::move(culprits);
  out.why = std::move(why);
  std::sort(out.suspects.begin(), out.suspects.end());
  out.suspects.erase(std::unique(out.suspects.begin(), out.suspects.end()), out.suspects.end());
}

// Two witnesses that name the same rank are as good as the better of them, and beyond doubt where a machine's
// own log tells of a fault that nothing survives. A witness that names nobody, or only a host, is worth no
// more than the weaker (kLow is the largest).
Confidence strength_of(const model::Case& joined, const Told& names, const Explanation& shown,
                       const Explanation& told) {
  const bool by_rank = std::any_of(shown.culprits.begin(), shown.culprits.end(), [&](RankIndex index) {
    return names.blames_by_rank(joined.ranks[index]);
  });
  if (!by_rank) return std::max(shown.strength, told.strength);
  constexpr std::string_view kFinal[] = {"gpu_fallen_off_bus", "oom_killed", "node_unreachable"};
  const bool is_final = std::find(std::begin(kFinal), std::end(kFinal), told.cause) != std::end(kFinal);
  if (is_final && told.strength != Confidence::kLow && shown.strength != Confidence::kLow)
    return Confidence::kHigh;
  return std::min(shown.strength, told.strength);
}

std::string words_of(const model::Subject& subject) {
  std::string out;
  if (subject.kind == model::SubjectKind::kGpu) {
    out = "GPU " + subject.gpu;
  } else if (subject.kind == model::SubjectKind::kProcess && subject.pid) {
    out = "process " + std::to_string(*subject.pid);
  } else if (subject.rank) {
    out = "rank " + std::to_string(*subject.rank);
  } else {
    return subject.host;
  }
  return subject.host.empty() ? out : out + " of " + subject.host;
}

// A log may tell of faults on several machines: an old one is not the news because it stands first.
Explanation of_those_shown(const model::Case& joined, const RankNames& names, const Explanation& shown,
                           const Explanation& told, const LogAnalysis* logs) {
  if (shown.culprits.empty() || told.other_culprits.size() + told.other_suspects.size() < 2) return told;
  std::set<std::int32_t> ranks;
  for (const RankIndex index : shown.culprits) ranks.insert(joined.ranks[index].global_rank);
  const auto fits = [&](const model::Subject& subject) {
    const std::vector<std::int32_t> own = names.of(subject);
    return std::any_of(own.begin(), own.end(), [&](std::int32_t rank) { return ranks.count(rank) != 0; });
  };
  Explanation out = told;
  const std::size_t others =
      std::erase_if(out.other_culprits, [&](const auto& subject) { return !fits(subject); }) +
      std::erase_if(out.other_suspects, [&](const auto& subject) { return !fits(subject); });
  std::vector<model::Subject> fitting = out.other_culprits;
  fitting.insert(fitting.end(), out.other_suspects.begin(), out.other_suspects.end());
  if (fitting.empty() || others == 0 || fitting.front().why.empty()) return told;
  out.headline = words_of(fitting.front()) + ": " + fitting.front().why;
  if (logs == nullptr) return out;
  std::set<std::string> hosts;
  for (const model::Subject& subject : fitting) hosts.insert(subject.host);
  std::erase_if(out.events, [&](const model::LogEvent* event) {
    return hosts.count(logs->origin(event->origin).host) == 0;
  });
  out.records.clear();
  cite_all(*logs, out.events, out);
  return out;
}

}  // namespace

std::optional<Explanation> with_reason(const model::Case& joined, const RankNames& names,
                                       const Explanation& shown, const Explanation& told_of_all,
                                       const LogAnalysis* logs) {
  const Explanation told = of_those_shown(joined, names, shown, told_of_all, logs);
  if (told.tentative || !told.explains_stall || !lacks_reason(shown)) return {};
  const Told blamed(names, told);
  const auto is_blamed = [&](RankIndex index) { return blamed.blames(joined.ranks[index]) != nullptr; };
  const auto agreed = std::count_if(shown.culprits.begin(), shown.culprits.end(), is_blamed);
  const bool hosts_known = std::any_of(shown.culprits.begin(), shown.culprits.end(),
                                       [&](RankIndex index) { return !joined.ranks[index].host.empty(); });
  // The one who is blamed by name in both has to be the same.
  if (!shown.culprits.empty() && blamed.names_somebody(hosts_known) && agreed == 0) return {};
  const bool in_network = told.category == Category::kTransportStall;
  // Who is missing is not explained by a network that fails between others.
  if (in_network && !shown.culprits.empty() && told.other_culprits.empty()) return {};
  if (told.category == Category::kCollectiveDesync && told.root.empty()) return {};
  if (told.category == Category::kInconclusive || told.category == Category::kPerformanceDegradation)
    return {};
  Explanation out = shown;
  out.records.insert(out.records.end(), told.records.begin(), told.records.end());
  out.events.insert(out.events.end(), told.events.begin(), told.events.end());
  // A host all of whose processes are gone was lost, or somebody ended them after one of them had failed.
  const bool one_failed = shown.cause == "node_unreachable" && agreed > 0 &&
                          std::cmp_less(agreed, shown.culprits.size()) &&
                          told.category == Category::kNotCommunication;
  const bool gone = told.category == Category::kProcessOrDeviceUnavailable || one_failed;
  const bool fewer = agreed > 0 && std::cmp_less(agreed, shown.culprits.size());
  keep_culprits(joined, blamed, (gone || in_network) && fewer, out);
  if (one_failed) {
    out.cause = "process_exited";
    out.root = told.root.empty() ? std::string(told.cause) : told.root;
    out.strength = std::max(shown.strength, told.strength);
    out.headline = told.headline + "; " + shown.headline;
  } else if (gone || in_network) {
    out.category = told.category;
    out.cause = told.cause;
    out.root = told.root;
    out.state = told.state;
    out.strength = strength_of(joined, blamed, shown, told);
    // Nobody is missing: only its time would tie the fault to the stall.
    if (shown.culprits.empty() && told.order_unknown) out.strength = Confidence::kLow;
    if (out.culprits.empty()) out.other_culprits = told.other_culprits;
    out.headline = told.headline + "; " + shown.headline;
  } else {
    out.root = told.root.empty() ? std::string(told.cause) : told.root;
    out.headline = shown.headline + "; " + told.headline;
  }
  return out;
}

}  // namespace unhang::detect
