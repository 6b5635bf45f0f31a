// SPDX-License-Identifier: Apache-2.0
#include "cli/log_time_flags.h"

#include <string_view>

#include "base/printable.h"
#include "formats/log/scanner.h"

namespace unhang::cli {
namespace {

constexpr std::int64_t kMostMinutes = 14 * 60;  // Kiribati; west of UTC it is 12 hours
constexpr std::int64_t kMinute = 60'000'000'000;

// "+02:00", "-0530", "+2", "Z", "UTC".
std::optional<std::int64_t> parse_zone(std::string_view text) {
  if (text == "Z" || text == "UTC") return 0;
  formats::log::Scanner in(text);
  const bool west = in.peek() == '-';
  std::int64_t hours = 0, minutes = 0;
  if (!in.take('+') && !in.take('-')) return std::nullopt;
  if (in.rest().size() == 4 && in.rest().find(':') == std::string_view::npos) {
    if (!in.digits(4, 4, hours)) return std::nullopt;
    minutes = hours % 100;
    hours /= 100;
  } else if (!in.digits(1, 2, hours) || (in.take(':') && !in.digits(2, 2, minutes))) {
    return std::nullopt;
  }
  if (!in.at_end() || minutes > 59 || hours * 60 + minutes > kMostMinutes) return std::nullopt;
  const std::int64_t ns = (hours * 60 + minutes) * kMinute;
  return west ? -ns : ns;
}

}  // namespace

std::vector<Flag> log_time_flags(LogTimeFlags& typed) {
  return {{.name = "--tz",
           .value = "±HH:MM",
           .help = "zone of times in logs that state none",
           .target = &typed.zone},
          {.name = "--year",
           .value = "YYYY",
           .help = "year of dates in logs that have none (else that of dates near by)",
           .target = &typed.year,
           .minimum = 1971,
           .maximum = 2261}};
}

base::Result<LogTimeValues> values_of(const LogTimeFlags& typed) {
  LogTimeValues values;
  if (typed.zone) {
    values.zone_ns = parse_zone(*typed.zone);
    if (!values.zone_ns)
      return base::fail(base::ErrorCode::kUsage, "flag --tz: '" + base::printable(*typed.zone) +
                                                     "' is no zone; write it like +02:00, -0530, +2 or UTC");
  }
  if (typed.year) values.year = static_cast<std::int32_t>(*typed.year);
  return values;
}

}  // namespace unhang::cli
