// SPDX-License-Identifier: Apache-2.0
#include "join/ras_time.h"

#include <array>
#include <charconv>
#include <chrono>

namespace unhang::join {

std::optional<std::int64_t> read_local_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  if (text.size() != kShape.size()) return {};
  std::array<int, 6> fields{};
  std::size_t field = 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '0') {
      if (text[i] != kShape[i]) return {};
      ++field;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') return {};
    fields[field] = fields[field] * 10 + (text[i] - '0');
  }
  const auto [year, month, day, hour, minute, second] = fields;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  // 60: a leap second. Years as a clock that runs can show them.
  if (!date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 || second > 60) return {};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * 86'400 + hour * 3'600 + minute * 60 + second) * 1'000'000'000;
}

}  // namespace unhang::join
