// SPDX-License-Identifier: Apache-2.0
#include "detect/time_lost.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time_text.h"

namespace unhang::detect {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// One rank has one GPU; of gloo nobody knows whether it has one.
std::size_t gpus(const model::Case& joined, const model::Verdict& verdict) {
  const bool only_gloo =
      !joined.groups.empty() && std::all_of(joined.groups.begin(), joined.groups.end(),
                                            [&](const auto& group) { return joined.is_gloo(group); });
  return only_gloo ? 0 : std::max(joined.ranks.size(), verdict.expected_ranks);
}

// Of what the verdict and the evidence state in UTC.
std::optional<std::int64_t> latest_time(const model::Case& joined, const model::Verdict& verdict) {
  std::optional<std::int64_t> latest;
  const auto see = [&](std::optional<std::int64_t> time) {
    if (time && (!latest || *time > *latest)) latest = time;
  };
  see(base::parse_utc(verdict.times.detected));
  see(base::parse_utc(verdict.times.dumped));
  for (const model::TimelineEvent& event : verdict.timeline) see(base::parse_utc(event.time));
  if (joined.logs.last.clock == model::LogClock::kUtc) see(joined.logs.last.ns);
  for (const model::BundleManifest& bundle : joined.bundles) see(bundle.ended_ns);
  for (const model::RasView& view : joined.ras.views) {
    if (!view.is_local_time) see(view.time_ns);
  }
  return latest;
}

std::string duration_text(std::int64_t ns) {
  const std::int64_t seconds = ns / kSecondNs;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 120 * 60) return std::to_string((seconds + 30) / 60) + " min";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

}  // namespace

void fill_time_lost(const model::Case& joined, model::Verdict& verdict) {
  if (verdict.state != model::State::kStopped && verdict.state != model::State::kDead) return;
  const auto from = base::parse_utc(verdict.times.stalled_since);
  const auto ended = base::parse_utc(verdict.times.ended);
  const auto until = ended ? ended : latest_time(joined, verdict);
  const std::size_t count = gpus(joined, verdict);
  constexpr std::int64_t kLongest = std::int64_t{366} * 86400 * kSecondNs;  // clocks that were never set
  if (count == 0 || !from || !until || *until <= *from || *until - kLongest > *from) return;
  const std::int64_t lasted = *until - *from;
  // To a thousandth: more digits would claim more than "one rank, one GPU" can carry.
  const double hours = static_cast<double>(count) * static_cast<double>(lasted / kSecondNs) / 3600.0;
  verdict.times.gpu_hours_lost =
      static_cast<double>(static_cast<std::int64_t>(hours * 1000.0 + 0.5)) / 1000.0;
  verdict.times.lost_basis = std::to_string(count) + (count == 1 ? " GPU" : " GPUs") + " (one a rank) x " +
                             duration_text(lasted) + " from the stall to " +
                             (ended ? "the end" : "the latest time in the evidence");
}

}  // namespace unhang::detect
