// SPDX-License-Identifier: Apache-2.0
#include "detect/host_times.h"

#include <algorithm>
#include <set>

namespace unhang::detect {
namespace {

constexpr std::int64_t kYear1971 = 31'536'000ll * 1'000'000'000;
constexpr std::int64_t kYear2200 = 7'258'118'400ll * 1'000'000'000;

bool is_date(std::int64_t ns) {
  return ns >= kYear1971 && ns < kYear2200;
}

}  // namespace

HostTimes::HostTimes(const model::Case& joined) : x_names(joined.hosts) {
  for (const model::HostClock& clock : joined.clocks) x_clocks.emplace(clock.host, &clock);
  std::set<std::string_view> hosts;
  for (const model::Rank& rank : joined.ranks) hosts.insert(x_names.name_for(rank.host));
  for (const model::LogOrigin& origin : joined.logs.origins) hosts.insert(x_names.name_for(origin.host));
  hosts.erase("");
  x_one_host = hosts.size() <= 1;
}

std::optional<Moment> HostTimes::of(std::string_view host, std::int64_t utc_ns) const {
  if (!is_date(utc_ns)) return {};
  Moment out;
  out.host = x_names.name_for(host);
  out.ns = utc_ns;
  const auto clock = x_clocks.find(out.host);
  if (clock == x_clocks.end() || !clock->second->known) return out;
  std::int64_t corrected = 0;
  if (__builtin_sub_overflow(utc_ns, clock->second->offset_ns, &corrected) || !is_date(corrected)) return out;
  out.ns = corrected;
  out.taken_off_ns = clock->second->offset_ns;
  out.spread_ns = clock->second->spread_ns;
  out.host_known = true;
  return out;
}

std::optional<Moment> HostTimes::of(std::string_view host, const model::LogTime& time) const {
  if (time.clock != model::LogClock::kUtc && time.clock != model::LogClock::kLocal) return {};
  auto out = of(host, time.ns);
  if (out) out->has_zone = time.clock == model::LogClock::kUtc;
  return out;
}

bool HostTimes::surely_before(const Moment& first, const Moment& second, std::int64_t margin_ns) const {
  if (first.has_zone != second.has_zone) return false;
  const bool same = x_one_host || (!first.host.empty() && first.host == second.host);
  if (!same && !(first.host_known && second.host_known)) return false;
  // Times without a zone of two hosts may be of two zones.
  if (!same && !first.has_zone) return false;
  std::int64_t earliest = 0;
  if (__builtin_add_overflow(first.ns, margin_ns, &earliest)) return false;
  if (!same && (__builtin_add_overflow(earliest, first.spread_ns, &earliest) ||
                __builtin_add_overflow(earliest, second.spread_ns, &earliest)))
    return false;
  return earliest < second.ns;
}

}  // namespace unhang::detect
