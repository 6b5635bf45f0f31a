// SPDX-License-Identifier: Apache-2.0
#include "report/log_times.h"

#include <fmt/format.h>

#include "base/time_text.h"

namespace unhang::report {
namespace {

constexpr std::size_t kMilliseconds = 23;  // "2026-11-29T20:55:26.120"
constexpr std::size_t kYear = 5;           // "2026-"

}  // namespace

std::string log_time_text(const model::LogTime& time) {
  switch (time.clock) {
    case model::LogClock::kNone:
      return "";
    case model::LogClock::kUtc:
      return base::utc_text(time.ns).substr(0, kMilliseconds) + "Z";
    case model::LogClock::kLocal:
      return base::utc_text(time.ns).substr(0, kMilliseconds) + "~";
    case model::LogClock::kLocalNoYear:
      return base::utc_text(time.ns).substr(kYear, kMilliseconds - kYear) + "~";
    case model::LogClock::kUptime:
      return fmt::format("{:.3f} s up", static_cast<double>(time.ns) / 1e9);
  }
  return "";
}

}  // namespace unhang::report
