// SPDX-License-Identifier: Apache-2.0
#include "detect/lateness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/robust.h"
#include "detect/iterations.h"

namespace unhang::detect {
namespace {

constexpr std::size_t kFewestDelays = 5;  // below this, last is chance
// Share of the group's time that the others must lose to it: less is not worth a verdict. In few rows a large
// share comes by chance.
constexpr double kLeastShareLost = 0.2;
constexpr double kLeastShareOfFew = 0.5;
constexpr std::size_t kFewRows = 30;
// By times of calls a delay has to stand out of what the clock of the member may be off. Looks of a watchdog
// are not independent of each other: the error is larger than their number says.
constexpr double kTimesDoubt = 3;
// Share of all lost time that one rank must cause: else nobody in particular is late.
constexpr double kLeastShareOfDelay = 0.7;
// By durations less can be told: lags of 5 % were found in 30 of 30 trials, of 2 % in none (gfr, on blocks of
// 30 collectives). The limit of share (lateness.h) lies between them.
constexpr std::int64_t kLeastLead = 20'000;  // ns; kernels of one step start that far apart anyway
constexpr std::size_t kFewestSteps = 10;
constexpr double kMostChance = 1e-4;
// Fewer steps are enough where a delay stands far out of what the others cause, in nearly every step.
constexpr std::size_t kFewestPlainSteps = 5;
constexpr double kTimesSpread = 10;
constexpr double kSpreadQuantile = 0.95;
constexpr double kLeastShareOfSteps = 0.8;

bool carries_most(const std::vector<Delays>& delays, std::size_t member) {
  double all = 0;
  for (const Delays& of_member : delays) all += static_cast<double>(of_member.lost_ns);
  return static_cast<double>(delays[member].lost_ns) >= kLeastShareOfDelay * all;
}

std::size_t worst_of(const std::vector<Delays>& delays) {
  const auto worst = std::max_element(delays.begin(), delays.end(),
                                      [](const Delays& a, const Delays& b) { return a.lost_ns < b.lost_ns; });
  return static_cast<std::size_t>(worst - delays.begin());
}

// A large delay needs few rows.
bool is_large(const Arrivals& arrivals, const std::vector<Delays>& delays, std::size_t member) {
  if (arrivals.rows.size() < kFewestDelays || delays[member].count < kFewestDelays) return false;
  if (!carries_most(delays, member)) return false;
  if (!arrivals.doubt_ns.empty() && static_cast<double>(delays[member].median_ns) <
                                        kTimesDoubt * static_cast<double>(arrivals.doubt_ns[member]))
    return false;
  const double least = arrivals.rows.size() < kFewRows ? kLeastShareOfFew : kLeastShareLost;
  return static_cast<double>(delays[member].lost_ns) >= least * static_cast<double>(arrivals.window_ns);
}

bool costs_enough(const Arrivals& arrivals, const Delays& delays) {
  return arrivals.window_ns > 0 &&
         static_cast<double>(delays.lost_ns) >= kLeastShareSteady * static_cast<double>(arrivals.window_ns);
}

// The chance that of `trials` at least `wins` go to one of `members` that are all alike.
double chance_of_wins(std::size_t trials, std::size_t wins, std::size_t members) {
  const double p = 1.0 / static_cast<double>(members);
  const auto n = static_cast<double>(trials);
  double sum = 0;
  for (std::size_t k = wins; k <= trials; ++k) {
    const auto at = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(at + 1) - std::lgamma(n - at + 1) + at * std::log(p) +
                    (n - at) * std::log1p(-p));
  }
  return std::min(1.0, sum * static_cast<double>(members));
}

// Who was last in a row, and by how much more than the next.
struct Lead {
  std::size_t member = 0;
  std::int64_t ns = 0;
};

Lead lead_of(const ArrivalRow& row) {
  const auto last = std::max_element(row.lateness_ns.begin(), row.lateness_ns.end());
  Lead out{static_cast<std::size_t>(last - row.lateness_ns.begin()), 0};
  std::int64_t next = 0;
  for (std::size_t m = 0; m < row.lateness_ns.size(); ++m) {
    if (m != out.member) next = std::max(next, row.lateness_ns[m]);
  }
  out.ns = *last - next;
  return out;
}

// In how many steps the member cost the others more than anybody else did; a step is a row where the calls do
// not repeat themselves.
struct Steps {
  std::size_t all = 0;
  std::size_t judged = 0;  // somebody was late in it
  std::size_t won = 0;
};

Steps count_steps(const Analysis& analysis, const Arrivals& arrivals, model::GroupIndex group,
                  std::size_t member, std::int64_t least_ns) {
  const auto period = find_period(analysis.joined, group);
  std::map<std::int64_t, std::vector<std::int64_t>> lost;  // by step, by member; empty: nobody was late
  for (const ArrivalRow& row : arrivals.rows) {
    const auto step = period ? period->iteration(row.sequence) : std::optional(row.sequence);
    if (!step) continue;
    auto& of_step = lost[*step];
    const Lead lead = lead_of(row);
    if (lead.ns < least_ns) continue;
    of_step.resize(row.lateness_ns.size());
    of_step[lead.member] = base::add_saturated(of_step[lead.member], lead.ns);
  }
  Steps out;
  for (const auto& [step, of_step] : lost) {
    ++out.all;
    if (of_step.empty()) continue;
    ++out.judged;
    const auto worst = std::max_element(of_step.begin(), of_step.end());
    if (static_cast<std::size_t>(worst - of_step.begin()) == member) ++out.won;
  }
  return out;
}

bool is_steady(const Analysis& analysis, model::GroupIndex group, const Arrivals& arrivals,
               const std::vector<Delays>& fine, std::size_t member) {
  if (arrivals.rows.size() < kFewRows || !carries_most(fine, member)) return false;
  if (!costs_enough(arrivals, fine[member])) return false;
  const Steps steps = count_steps(analysis, arrivals, group, member, kLeastLead);
  if (steps.won < kFewestSteps) return false;
  const double looked_at = static_cast<double>(std::max<std::size_t>(analysis.groups.size(), 1));
  return chance_of_wins(steps.judged, steps.won, fine.size()) * looked_at <= kMostChance;
}

// Many times the spread, step after step.
bool is_plain(const Analysis& analysis, model::GroupIndex group, const Arrivals& arrivals,
              const std::vector<Delays>& fine, const Delays& large, std::size_t member) {
  if (arrivals.rows.size() < kFewRows || large.count < kFewestPlainSteps || !carries_most(fine, member))
    return false;
  if (!costs_enough(arrivals, large)) return false;
  std::vector<std::int64_t> of_others;
  for (const ArrivalRow& row : arrivals.rows) {
    const Lead lead = lead_of(row);
    if (lead.member != member) of_others.push_back(lead.ns);
  }
  const auto spread = static_cast<double>(base::quantile(std::move(of_others), kSpreadQuantile));
  if (static_cast<double>(large.median_ns) < kTimesSpread * spread) return false;
  const Steps steps = count_steps(analysis, arrivals, group, member, kLeastDelay);
  return steps.won >= kFewestPlainSteps &&
         static_cast<double>(steps.won) >= kLeastShareOfSteps * static_cast<double>(steps.all);
}

struct Found {
  std::size_t member = 0;
  Delays proof;
  bool slight = false;
};

// Members that send to each other work one after the other, as the stages of a pipeline: some are later than
// others by design.
bool has_stages(const Analysis& analysis, model::GroupIndex group) {
  const auto& groups = analysis.joined.groups;
  std::vector<model::RankIndex> members = groups[group].members;
  std::sort(members.begin(), members.end());
  return std::any_of(groups.begin(), groups.end(), [&](const model::Group& other) {
    return other.carries_p2p && std::count_if(other.members.begin(), other.members.end(), [&](auto rank) {
                                  return std::binary_search(members.begin(), members.end(), rank);
                                }) > 1;
  });
}

// `small`: also lags that are small and steady.
std::optional<Found> find_straggler_in(const Analysis& analysis, model::GroupIndex group,
                                       const Arrivals& arrivals, const std::vector<Delays>& fine,
                                       bool small) {
  const std::vector<Delays> large = measure_delays(arrivals);
  const std::size_t worst = worst_of(large);
  if (is_large(arrivals, large, worst)) return Found{worst, large[worst], false};
  if (!arrivals.by_durations || !small) return std::nullopt;
  const std::size_t steadiest = worst_of(fine);
  if (is_plain(analysis, group, arrivals, fine, large[steadiest], steadiest))
    return Found{steadiest, large[steadiest], true};
  if (is_steady(analysis, group, arrivals, fine, steadiest)) return Found{steadiest, fine[steadiest], true};
  return std::nullopt;
}

// The members of each host, hosts by name. Empty unless all are known and some has several of several.
std::vector<std::vector<std::size_t>> members_by_host(const Analysis& analysis, model::GroupIndex group) {
  std::map<std::string_view, std::vector<std::size_t>> hosts;
  const auto& members = analysis.groups[group].members;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const std::string& host = analysis.joined.ranks[members[m].rank].host;
    if (host.empty()) return {};
    hosts[host].push_back(m);
  }
  if (hosts.size() < 2 || hosts.size() == members.size()) return {};
  std::vector<std::vector<std::size_t>> out;
  for (auto& [host, of_host] : hosts) out.push_back(std::move(of_host));
  return out;
}

// A host is as late as the last of its members.
Arrivals of_hosts(const Arrivals& arrivals, const std::vector<std::vector<std::size_t>>& hosts) {
  Arrivals out{.rows = {}, .by_durations = arrivals.by_durations, .window_ns = arrivals.window_ns};
  for (const auto& members : hosts) {
    if (arrivals.doubt_ns.empty()) break;
    std::int64_t& doubt = out.doubt_ns.emplace_back(0);
    for (const std::size_t m : members) doubt = std::max(doubt, arrivals.doubt_ns[m]);
  }
  for (const ArrivalRow& row : arrivals.rows) {
    ArrivalRow& of_row = out.rows.emplace_back();
    of_row.sequence = row.sequence;
    of_row.others_ns = row.others_ns;
    for (const auto& members : hosts) {
      const std::size_t last = *std::max_element(members.begin(), members.end(), [&](auto a, auto b) {
        return row.lateness_ns[a] < row.lateness_ns[b];
      });
      of_row.lateness_ns.push_back(row.lateness_ns[last]);
      of_row.operations.push_back(row.operations[last]);
    }
  }
  return out;
}

}  // namespace

std::optional<GroupLateness> judge_lateness(const Analysis& analysis, model::GroupIndex group) {
  Arrivals arrivals = collect_waits(analysis, group);
  if (arrivals.rows.size() < kFewestDelays) arrivals = collect_arrivals(analysis, group);
  if (arrivals.rows.empty()) return std::nullopt;
  const std::int64_t least = arrivals.by_durations ? kLeastLead : kLeastDelay;
  GroupLateness out{.group = group,
                    .by_durations = arrivals.by_durations,
                    .rows = arrivals.rows.size(),
                    .window_ns = arrivals.window_ns,
                    .delays = measure_delays(arrivals, least),
                    .stragglers = {},
                    .operations = {},
                    .proof = {}};
  const bool stages = has_stages(analysis, group);
  auto found = find_straggler_in(analysis, group, arrivals, out.delays, !stages);
  if (found) {
    out.stragglers = {found->member};
  } else if (const auto hosts = members_by_host(analysis, group); !hosts.empty() && !stages) {
    const Arrivals together = of_hosts(arrivals, hosts);
    found = find_straggler_in(analysis, group, together, measure_delays(together, least), true);
    if (found) out.stragglers = hosts[found->member];
  }
  if (!found) return out;
  out.proof = found->proof;
  out.slight = found->slight;
  for (const std::size_t member : out.stragglers)
    out.operations.push_back(arrivals.rows[found->proof.worst_row].operations[member]);
  return out;
}

}  // namespace unhang::detect
