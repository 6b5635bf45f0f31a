// SPDX-License-Identifier: Apache-2.0
#include "base/time_text.h"

#include <chrono>
#include <cstdio>

namespace unhang::base {

std::string utc_text(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = ns / kSecond;
  std::int64_t fraction = ns % kSecond;
  if (fraction < 0) {
    fraction += kSecond;
    --seconds;
  }
  std::int64_t days = seconds / 86400;
  std::int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  // Days to a civil date, by 400-year cycles that start on 1 March (the leap day then ends a year).
  const std::int64_t shifted = days + 719468;
  const std::int64_t cycle = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const std::int64_t day_of_cycle = shifted - cycle * 146097;
  const std::int64_t year_of_cycle =
      (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const std::int64_t year = cycle * 400 + year_of_cycle + (month <= 2 ? 1 : 0);
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%09lldZ",
                static_cast<long long>(year), static_cast<long long>(month), static_cast<long long>(day),
                static_cast<long long>(rest / 3600), static_cast<long long>(rest / 60 % 60),
                static_cast<long long>(rest % 60), static_cast<long long>(fraction));
  return text;
}

std::optional<std::int64_t> parse_utc(std::string_view text) {
  std::size_t at = 0;
  bool good = true;
  const auto digits = [&](std::size_t count) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      if (at >= text.size() || text[at] < '0' || text[at] > '9') {
        good = false;
        return std::int64_t{0};
      }
      value = value * 10 + (text[at] - '0');
    }
    return value;
  };
  const auto sign = [&](char wanted) { good = good && at < text.size() && text[at++] == wanted; };

  const std::int64_t year = digits(4);
  sign('-');
  const std::int64_t month = digits(2);
  sign('-');
  const std::int64_t day = digits(2);
  sign('T');
  const std::int64_t hour = digits(2);
  sign(':');
  const std::int64_t minute = digits(2);
  sign(':');
  const std::int64_t second = digits(2);
  std::int64_t fraction = 0;
  if (good && at < text.size() && text[at] == '.') {
    ++at;
    std::size_t count = 0;
    while (count < 9 && at < text.size() && text[at] >= '0' && text[at] <= '9') {
      fraction = fraction * 10 + (text[at++] - '0');
      ++count;
    }
    good = count > 0;
    for (; count < 9; ++count) fraction *= 10;
  }
  sign('Z');
  constexpr std::int64_t kFirstYear = 1678, kLastYear = 2261;  // what nanoseconds in 64 bits can say
  good = good && at == text.size() && year >= kFirstYear && year <= kLastYear && hour < 24 && minute < 60 &&
         second < 60;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(good ? year : 1970)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!good || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * 86400 + hour * 3600 + minute * 60 + second) * 1'000'000'000 + fraction;
}

}  // namespace unhang::base
