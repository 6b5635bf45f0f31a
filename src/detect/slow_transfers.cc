// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_transfers.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "base/robust.h"
#include "base/span_text.h"
#include "detect/call_bytes.h"
#include "detect/complete_rows.h"
#include "detect/slow_series.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::SlowFinding;
using model::SlowTransfers;

constexpr std::size_t kFewestMeasurements = 5;
constexpr std::size_t kMostSeries = 256;
constexpr double kLeastShareOfDrift = 0.01;  // of the group's time: less is not worth a word
constexpr double kLeastShareOfTail = 0.05;   // of the time of the series
constexpr std::size_t kNamed = 2;            // series that a sentence names
constexpr std::size_t kMostSuspects = 64;

struct Key {
  model::OpKind kind;
  model::SymbolId name;
  std::int64_t bytes;  // -1: not known

  bool operator<(const Key& other) const {
    return std::tie(kind, name, bytes) < std::tie(other.kind, other.name, other.bytes);
  }
};

struct Series {
  std::vector<Measurement> times;
  std::vector<std::int64_t> called_ns;  // on the clock of the first member
};

Key key_of(const model::Case& joined, const model::Operation& op) {
  const auto& signature = joined.signature(op);
  std::int64_t bytes = call_bytes(joined, signature).value_or(-1);
  // Its sizes change from call to call and from rank to rank: near ones are taken together.
  if (signature.kind == model::OpKind::kAllToAll && bytes > 0 && bytes < (std::int64_t{1} << 61))
    bytes = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes)));
  return {signature.kind, signature.name, bytes};
}

// What the newest level costs above the one before, as a share of the time that passed since.
double share_lost(const Series& series, const model::SlowSeries& judged, std::int64_t end_ns) {
  if (!judged.change || !judged.change->persistent) return 0;
  const std::size_t at = judged.change->at;
  std::vector<std::int64_t> newer;
  for (std::size_t i = at; i < series.times.size(); ++i) newer.push_back(series.times[i].ns);
  const auto level = static_cast<double>(base::median(newer));
  const double more = level - level / judged.change->ratio;
  const auto since = static_cast<double>(base::subtract_saturated(end_ns, series.called_ns[at]));
  return since <= 0 ? 0 : std::min(1.0, more * static_cast<double>(newer.size()) / since);
}

std::map<Key, Series> series_of(const Analysis& analysis, model::GroupIndex group, std::int64_t& end_ns) {
  std::map<Key, Series> all;
  const auto& members = analysis.groups[group].members;
  for (const CompleteRow& row : complete_rows(analysis, group, has_shared_duration)) {
    std::int64_t shortest = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const auto& op = analysis.joined.ranks[members[m].rank].operations[row.operations[m]];
      const std::int64_t duration = *duration_of(op);
      shortest = m == 0 ? duration : std::min(shortest, duration);
    }
    const auto& first = analysis.joined.ranks[members.front().rank].operations[row.operations.front()];
    end_ns = std::max(end_ns, first.created_ns);
    const Key key = key_of(analysis.joined, first);
    if (all.size() >= kMostSeries && !all.contains(key)) continue;
    Series& series = all[key];
    series.times.push_back({row.sequence, shortest});
    series.called_ns.push_back(first.created_ns);
  }
  std::erase_if(all, [](const auto& one) { return one.second.times.size() < kFewestMeasurements; });
  return all;
}

double total_of(const SlowTransfers& one) {
  return static_cast<double>(one.time.median_ns) * static_cast<double>(one.time.count);
}

std::string call_words(const SlowTransfers& one) {
  return one.bytes ? one.operation + " of " + base::bytes_text(*one.bytes) : one.operation;
}

// Groups of the same name in the program (all "tp" groups, say), and of these the ones in `slow`.
std::string siblings_text(const Analysis& analysis, model::GroupIndex group,
                          const std::vector<model::GroupIndex>& slow,
                          const std::vector<SlowTransfers>& transfers) {
  const model::SymbolId name = analysis.joined.groups[group].description;
  std::vector<model::GroupIndex> measured;
  for (const SlowTransfers& one : transfers) {
    if (analysis.joined.groups[one.group].description == name) measured.push_back(one.group);
  }
  std::sort(measured.begin(), measured.end());
  measured.erase(std::unique(measured.begin(), measured.end()), measured.end());
  if (measured.size() < 2) return "";
  const auto changed = std::count_if(measured.begin(), measured.end(), [&](model::GroupIndex other) {
    return std::find(slow.begin(), slow.end(), other) != slow.end();
  });
  return "so did " + std::to_string(changed) + " of the " + std::to_string(measured.size()) +
         " groups of that name";
}

SlowFinding finding_for(const Analysis& analysis, std::vector<const SlowTransfers*> of_group,
                        bool persistent) {
  std::sort(of_group.begin(), of_group.end(), [](const SlowTransfers* a, const SlowTransfers* b) {
    return std::tuple(-a->share_lost, -total_of(*a), a->operation, a->bytes) <
           std::tuple(-b->share_lost, -total_of(*b), b->operation, b->bytes);
  });
  const SlowTransfers& worst = *of_group.front();
  SlowFinding found;
  found.kind = model::SlowKind::kTransferDrift;
  found.side = model::SlowSide::kNetwork;
  found.cause = "slow_link";
  found.confidence = model::Confidence::kMedium;
  found.persistent = found.slow = persistent;
  found.group = worst.group;
  found.since_sequence = worst.time.change->sequence;
  const auto& members = analysis.joined.groups[worst.group].members;
  if (members.size() <= kMostSuspects) found.suspects = members;
  found.text = "transfers of " + analysis.joined.group_label(worst.group) +
               (persistent ? " take " : " took for a while ");
  for (std::size_t i = 0; i < std::min(of_group.size(), kNamed); ++i) {
    if (i > 0) found.text += ", ";
    found.text += base::ratio_text(of_group[i]->time.change->ratio) + " times as long (" +
                  call_words(*of_group[i]) + ")";
  }
  found.text += (persistent ? " since #" : ", from #") + std::to_string(*found.since_sequence) +
                ", and all members enter them as before";
  if (!persistent) found.why.push_back("the newest ones are as fast as before");
  return found;
}

void add_tail(const Analysis& analysis, const SlowTransfers& one, std::vector<SlowFinding>& out) {
  SlowFinding found;
  found.kind = model::SlowKind::kTail;
  found.side = model::SlowSide::kNetwork;
  found.cause = "slow_link";
  found.slow = found.persistent = false;
  found.group = one.group;
  found.text = std::to_string(one.time.tail) + " of " + std::to_string(one.time.count) + " calls of " +
               call_words(one) + " in " + analysis.joined.group_label(one.group) +
               " took more than twice as long as the others, up to " + base::span_text(one.time.longest_ns) +
               " instead of " + base::span_text(one.time.median_ns);
  out.push_back(std::move(found));
}

}  // namespace

std::vector<SlowTransfers> measure_transfers(const Analysis& analysis) {
  std::vector<SlowTransfers> out;
  std::vector<std::pair<Series, std::int64_t>> kept;
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    std::int64_t end_ns = 0;
    for (auto& [key, series] : series_of(analysis, group, end_ns)) {
      SlowTransfers& one = out.emplace_back();
      one.group = group;
      one.kind = key.kind;
      one.operation = std::string(analysis.joined.text(key.name));
      if (key.bytes >= 0 && key.kind != model::OpKind::kAllToAll) one.bytes = key.bytes;
      kept.emplace_back(std::move(series), end_ns);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].time = judge_series(kept[i].first.times, out.size());
    out[i].share_lost = share_lost(kept[i].first, out[i].time, kept[i].second);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SlowTransfers& a, const SlowTransfers& b) { return total_of(a) > total_of(b); });
  return out;
}

std::vector<SlowFinding> judge_transfers(const Analysis& analysis,
                                         const std::vector<SlowTransfers>& transfers) {
  std::map<model::GroupIndex, std::vector<const SlowTransfers*>> lasting;
  std::map<model::GroupIndex, std::vector<const SlowTransfers*>> passing;
  std::map<model::GroupIndex, double> lost;
  std::map<model::GroupIndex, const SlowTransfers*> tails;
  double all = 0;
  for (const SlowTransfers& one : transfers) all += total_of(one);
  for (const SlowTransfers& one : transfers) {
    if (one.time.change && one.time.change->persistent) {
      lasting[one.group].push_back(&one);
      lost[one.group] += one.share_lost;
    } else if (one.time.change) {
      passing[one.group].push_back(&one);
    }
    if (one.time.tail > 0 && one.time.tail_share >= kLeastShareOfTail && total_of(one) >= all / 100)
      tails.emplace(one.group, &one);
  }
  std::erase_if(lasting, [&](const auto& group) { return lost[group.first] < kLeastShareOfDrift; });
  std::vector<model::GroupIndex> slow;
  for (const auto& [group, of_group] : lasting) slow.push_back(group);
  std::vector<SlowFinding> out;
  for (const auto& [group, of_group] : lasting) {
    SlowFinding& found = out.emplace_back(finding_for(analysis, of_group, true));
    if (std::string words = siblings_text(analysis, group, slow, transfers); !words.empty())
      found.why.push_back(std::move(words));
  }
  std::stable_sort(out.begin(), out.end(), [&](const SlowFinding& a, const SlowFinding& b) {
    return lost[*a.group] > lost[*b.group];
  });
  for (const auto& [group, of_group] : passing) out.push_back(finding_for(analysis, of_group, false));
  for (const auto& [group, one] : tails) add_tail(analysis, *one, out);
  return out;
}

}  // namespace unhang::detect
