// SPDX-License-Identifier: Apache-2.0
#include "report/time_words.h"

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/duration.h"
#include "base/time_text.h"

namespace unhang::report {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// "10m", "1h30m", "12s"; nullopt where it is none or is not later.
std::optional<std::string> between(const std::string& from, const std::string& to) {
  const auto begin = base::parse_utc(from);
  const auto end = base::parse_utc(to);
  std::int64_t length = 0;
  if (!begin || !end || __builtin_sub_overflow(*end, *begin, &length) || length < kSecond) return {};
  // From an hour on nobody asks for the second.
  const std::int64_t unit = length >= 3'600 * kSecond ? 60 * kSecond : kSecond;
  return base::format_duration(std::chrono::nanoseconds(length / unit * unit));
}

}  // namespace

std::string stall_words(const model::IncidentTimes& times) {
  constexpr std::size_t kToTheSecond = 19;  // "2026-11-29T17:00:10"
  if (times.stalled_since.size() < kToTheSecond) return {};
  std::string out = times.stalled_since.substr(0, kToTheSecond) + "Z";
  if (const auto later = between(times.stalled_since, times.detected))
    out += ", detected " + *later + " later";
  if (const auto until = between(times.stalled_since, times.ended))
    out += ", last sign of it " + *until + " later";
  return out;
}

}  // namespace unhang::report
