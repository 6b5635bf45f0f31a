// SPDX-License-Identifier: Apache-2.0
#include "detect/slow_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/robust.h"
#include "base/span_text.h"
#include "detect/call_bytes.h"
#include "detect/complete_rows.h"
#include "detect/p2p_edges.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::RankIndex;
using model::SlowFinding;
using model::SlowKind;
using model::SlowPair;

constexpr std::size_t kFewestTransfers = 5;
constexpr std::size_t kFewestPairs = 6;    // fewer have no usual one
constexpr double kHotZ = 4;                // as for admission tests: robust z of the logarithm
constexpr double kLeastRatio = 1.25;       // and a practical difference
constexpr double kLeastSpread = 0.03;      // of logarithms: small messages repeat no better
constexpr double kLeastShareOfLine = 0.7;  // of a row or column
constexpr std::size_t kFewestOfLine = 2;
constexpr std::size_t kMostFindings = 8;

bool hosts_known(const model::Case& joined, const std::vector<SlowPair>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const SlowPair& pair) {
    return !joined.ranks[pair.source].host.empty() && !joined.ranks[pair.destination].host.empty();
  });
}

// Of one edge: the transfers that both ends timed, by bytes.
using TimesBySize = std::map<std::int64_t, std::vector<std::int64_t>>;

TimesBySize times_of(const model::Case& joined, const TransferEdge& edge) {
  const auto finished = [](const std::vector<TransferEnd>& ends) {
    std::vector<std::uint32_t> out;
    for (const TransferEnd& end : ends) {
      if (end.finished) out.push_back(end.operation);
    }
    return out;
  };
  const auto sent = finished(edge.sends);
  const auto received = finished(edge.receives);
  TimesBySize out;
  // From the newest back: rings forget at different places.
  for (std::size_t k = 1; k <= std::min(sent.size(), received.size()); ++k) {
    const auto& send = joined.ranks[edge.source].operations[sent[sent.size() - k]];
    const auto& receive = joined.ranks[edge.destination].operations[received[received.size() - k]];
    const auto a = duration_of(send);
    const auto b = duration_of(receive);
    if (a && b) out[call_bytes(joined, joined.signature(send)).value_or(-1)].push_back(std::min(*a, *b));
  }
  return out;
}

struct Measured {
  SlowPair pair;
  TimesBySize times;
};

// Each time as the logarithm of its ratio to the median of its size and kind of path over all pairs.
void compare(std::vector<Measured>& all) {
  std::map<std::pair<std::int64_t, bool>, std::vector<std::int64_t>> medians;
  for (const Measured& one : all) {
    for (const auto& [bytes, times] : one.times)
      medians[{bytes, one.pair.across_hosts}].push_back(base::median(times));
  }
  std::map<std::pair<std::int64_t, bool>, double> usual;
  for (auto& [key, values] : medians) usual[key] = std::log(static_cast<double>(base::median(values)));
  std::vector<double> logs;
  for (Measured& one : all) {
    std::vector<double> ratios;
    std::vector<std::int64_t> plain;
    for (const auto& [bytes, times] : one.times) {
      for (const std::int64_t time : times) {
        ratios.push_back(std::log(static_cast<double>(time)) - usual[{bytes, one.pair.across_hosts}]);
        plain.push_back(time);
      }
    }
    one.pair.count = plain.size();
    one.pair.median_ns = base::median(std::move(plain));
    logs.push_back(base::median_of(ratios));
    one.pair.ratio = std::exp(logs.back());
  }
  const double center = base::median_of(logs);
  const double spread = std::max(base::kDeviationToSigma * base::deviation_of(logs), kLeastSpread);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SlowPair& pair = all[i].pair;
    pair.robust_z = (logs[i] - center) / spread;
    pair.hot = all.size() >= kFewestPairs && pair.robust_z > kHotZ && pair.ratio >= kLeastRatio;
  }
}

struct Line {
  std::vector<double> z;
  std::size_t hot = 0;
  std::vector<double> ratios;

  bool is_hot() const {
    return z.size() >= kFewestOfLine && base::median_of(z) > kHotZ &&
           static_cast<double>(hot) >= kLeastShareOfLine * static_cast<double>(z.size());
  }
  void add(const SlowPair& pair) {
    z.push_back(pair.robust_z);
    ratios.push_back(pair.ratio);
    if (pair.hot) ++hot;
  }
};

SlowFinding line_finding(const Analysis& analysis, RankIndex rank, const Line& line, bool sends, bool both) {
  SlowFinding found;
  found.kind = sends ? SlowKind::kSlowSender : SlowKind::kSlowReceiver;
  found.culprits = {rank};
  found.text = std::string("transfers ") +
               (both    ? "to and from "
                : sends ? "from "
                        : "to ") +
               ranks_text(analysis.joined, {rank}) + " take " +
               base::ratio_text(base::median_of(line.ratios)) +
               " times as long as those between other ranks, with " + std::to_string(line.hot) + " of " +
               std::to_string(line.z.size()) + " partners";
  return found;
}

SlowFinding pair_finding(const Analysis& analysis, const SlowPair& pair) {
  SlowFinding found;
  found.kind = SlowKind::kSlowPair;
  found.culprits = {pair.source, pair.destination};
  const auto& ranks = analysis.joined.ranks;
  found.text = "transfers from rank " + std::to_string(ranks[pair.source].global_rank) + " to rank " +
               std::to_string(ranks[pair.destination].global_rank) + " take " + base::ratio_text(pair.ratio) +
               " times as long as those between other pairs: " + base::span_text(pair.median_ns) +
               " in the median of " + std::to_string(pair.count);
  return found;
}

}  // namespace

std::vector<SlowPair> measure_pairs(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  std::vector<Measured> all;
  const auto edges = transfer_edges(joined);
  for (const TransferEdge& edge : edges) {
    TimesBySize times = times_of(joined, edge);
    std::size_t count = 0;
    for (const auto& [bytes, of_size] : times) count += of_size.size();
    if (count < kFewestTransfers) continue;
    SlowPair pair{.source = edge.source, .destination = edge.destination};
    pair.across_hosts = joined.ranks[edge.source].host != joined.ranks[edge.destination].host;
    all.push_back({pair, std::move(times)});
  }
  compare(all);
  std::vector<SlowPair> out;
  for (Measured& one : all) out.push_back(one.pair);
  return out;
}

std::vector<SlowFinding> judge_pairs(const Analysis& analysis, const std::vector<SlowPair>& pairs) {
  if (pairs.size() < kFewestPairs) return {};
  std::map<RankIndex, Line> rows;
  std::map<RankIndex, Line> columns;
  for (const SlowPair& pair : pairs) {
    rows[pair.source].add(pair);
    columns[pair.destination].add(pair);
  }
  std::vector<SlowFinding> out;
  std::set<RankIndex> hot_rows;
  std::set<RankIndex> hot_columns;
  for (const auto& [rank, line] : columns) {
    if (line.is_hot()) hot_columns.insert(rank);
  }
  for (const auto& [rank, line] : rows) {
    if (!line.is_hot()) continue;
    hot_rows.insert(rank);
    out.push_back(line_finding(analysis, rank, line, true, hot_columns.contains(rank)));
  }
  for (const RankIndex rank : hot_columns) {
    if (!hot_rows.contains(rank)) out.push_back(line_finding(analysis, rank, columns[rank], false, false));
  }
  std::vector<SlowPair> left;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(left), [&](const SlowPair& pair) {
    return pair.hot && !hot_rows.contains(pair.source) && !hot_columns.contains(pair.destination);
  });
  std::stable_sort(left.begin(), left.end(),
                   [](const SlowPair& a, const SlowPair& b) { return a.ratio > b.ratio; });
  for (const SlowPair& pair : left) out.push_back(pair_finding(analysis, pair));
  if (out.size() > kMostFindings) out.resize(kMostFindings);
  const bool known = hosts_known(analysis.joined, pairs);
  for (SlowFinding& found : out) {
    found.side = model::SlowSide::kNetwork;
    found.cause = "slow_link";
    found.confidence = known ? model::Confidence::kMedium : model::Confidence::kLow;
    found.slow = known;
    // Between hosts all is slower than inside one.
    if (!known) found.why.push_back("the hosts of the ranks are not known: it may be the way between two");
  }
  return out;
}

}  // namespace unhang::detect
