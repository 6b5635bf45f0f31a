// SPDX-License-Identifier: Apache-2.0
#include "checks/collective_rates.h"

#include <algorithm>
#include <map>

namespace unhang::checks {
namespace {

constexpr double kNanosecond = 1e-9;

// Times of one rank, or of one rank in one group.
struct Times {
  std::int64_t first = 0, last = 0;
  std::uint64_t calls = 0;

  void add(std::int64_t ns) {
    if (calls == 0 || ns < first) first = ns;
    if (calls == 0 || ns > last) last = ns;
    ++calls;
  }
  // n calls have n - 1 distances.
  CollectiveRate rate(std::string who) const {
    const double seconds = static_cast<double>(last - first) * kNanosecond;
    return {std::move(who), static_cast<double>(calls - 1) / seconds, seconds, calls};
  }
  bool measurable() const { return calls >= 2 && last > first; }
};

void from_dumps(const model::Case& joined, CollectiveRates& out) {
  std::map<model::GroupIndex, CollectiveRate> groups;
  for (const model::Rank& rank : joined.ranks) {
    if (rank.only_active) continue;  // what is finished was left out: no rate
    Times all;
    std::map<model::GroupIndex, Times> of_group;
    std::int64_t before = 0;
    for (const model::Operation& operation : rank.operations) {
      if (operation.created_ns <= 0) continue;
      all.add(operation.created_ns);
      of_group[operation.group].add(operation.created_ns);
      if (before > 0 && operation.created_ns > before)
        out.longest_pause =
            std::max(out.longest_pause, static_cast<double>(operation.created_ns - before) * kNanosecond);
      before = operation.created_ns;
    }
    if (all.measurable()) out.ranks.push_back(all.rate("rank " + std::to_string(rank.global_rank)));
    for (const auto& [group, times] : of_group) {
      if (!times.measurable() || group >= joined.groups.size()) continue;
      CollectiveRate rate = times.rate("group " + joined.group_label(group));
      CollectiveRate& known = groups[group];
      if (rate.per_second > known.per_second) known = std::move(rate);
    }
  }
  for (auto& [group, rate] : groups) out.groups.push_back(std::move(rate));
}

// Launches of each process, over all of its communicators.
std::map<std::pair<std::string, std::int64_t>, std::uint64_t> launches(const model::RasView& view) {
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> out;
  for (const model::RasCommunicator& communicator : view.communicators) {
    for (const model::RasRank& rank : communicator.ranks) {
      if (rank.pid < 0 || rank.presence != model::RasPresence::kAnswered) continue;
      std::uint64_t& sum = out[{rank.host, rank.pid}];
      for (const auto& count : rank.counts) sum += count.value_or(0);
    }
  }
  return out;
}

void from_ras(const model::Case& joined, CollectiveRates& out) {
  const auto& views = joined.ras.views;
  if (views.size() < 2) return;
  const model::RasView &first = views.front(), &last = views.back();
  if (!first.time_ns || !last.time_ns || first.is_local_time != last.is_local_time ||
      *last.time_ns <= *first.time_ns)
    return;
  const double seconds = static_cast<double>(*last.time_ns - *first.time_ns) * kNanosecond;
  const auto before = launches(first);
  for (const auto& [process, count] : launches(last)) {
    const auto at = before.find(process);
    if (at == before.end() || count <= at->second) continue;  // new, restarted or standing
    const std::uint64_t calls = count - at->second;
    out.processes.push_back({process.first + " pid " + std::to_string(process.second),
                             static_cast<double>(calls) / seconds, seconds, calls});
  }
}

void from_logs(const model::Case& joined, CollectiveRates& out) {
  std::map<std::uint32_t, std::uint64_t> newest;  // communicator -> the highest number of a call
  for (const model::LogCall& call : joined.logs.calls) {
    std::uint64_t& count = newest[call.communicator];
    count = std::max(count, call.op_count);
  }
  for (const auto& [index, count] : newest) {
    if (index >= joined.logs.communicators.size() || count == 0) continue;
    const model::LogCommunicator& communicator = joined.logs.communicators[index];
    const model::LogTime &from = communicator.completed_at, &to = communicator.last_at;
    if (!from.known() || from.clock != to.clock || to.ns <= from.ns) continue;
    const double seconds = static_cast<double>(to.ns - from.ns) * kNanosecond;
    out.logs.push_back({"a communicator of " + std::to_string(communicator.ranks) + " ranks",
                        static_cast<double>(count) / seconds, seconds, count});
  }
}

}  // namespace

CollectiveRates measure_rates(const model::Case& joined) {
  CollectiveRates out;
  from_dumps(joined, out);
  from_ras(joined, out);
  from_logs(joined, out);
  return out;
}

const CollectiveRate* fastest(const std::vector<CollectiveRate>& rates) {
  const auto at = std::max_element(
      rates.begin(), rates.end(),
      [](const CollectiveRate& a, const CollectiveRate& b) { return a.per_second < b.per_second; });
  return at == rates.end() ? nullptr : &*at;
}

}  // namespace unhang::checks
