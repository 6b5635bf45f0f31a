// SPDX-License-Identifier: Apache-2.0
#include "formats/log/time_prefix.h"

#include <algorithm>
#include <array>

namespace unhang::formats::log {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;
constexpr std::int64_t kLeapYear = 1972;  // stands for a year that is not printed

bool is_leap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Of words of three letters one behind the other: which of them stands at the beginning of `text`; -1: none.
// Nearly every line has another first letter than any of them.
template <std::size_t kSize>
int word_of_three(const char (&words)[kSize], std::string_view text) {
  if (text.size() < 3) return -1;
  for (std::size_t i = 0; i + 3 < kSize; i += 3) {
    if (words[i] == text[0] && words[i + 1] == text[1] && words[i + 2] == text[2])
      return static_cast<int>(i / 3);
  }
  return -1;
}

// "Jan": 1; 0 for anything else.
int month_of(std::string_view text) {
  return word_of_three("JanFebMarAprMayJunJulAugSepOctNovDec", text) + 1;
}

// Z, +00:00, -0700; false when there is none.
bool read_zone(Scanner& in, std::int64_t& seconds) {
  const std::size_t before = in.at();
  if (in.take('Z')) {
    seconds = 0;
    return true;
  }
  const char sign = in.peek();
  if (sign != '+' && sign != '-') return false;
  in.move_to(before + 1);
  std::int64_t hours = 0, minutes = 0;
  const auto two = [&in](std::int64_t& value) {
    const char a = in.peek(), b = in.peek(1);
    if (a < '0' || a > '9' || b < '0' || b > '9') return false;
    value = (a - '0') * 10 + (b - '0');
    in.move_to(in.at() + 2);
    return true;
  };
  if (!two(hours) || (in.take(':') && !two(minutes)) ||
      (minutes == 0 && in.peek() >= '0' && in.peek() <= '9' && !two(minutes)) || hours > 14 || minutes > 59) {
    in.move_to(before);
    return false;
  }
  seconds = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
  return true;
}

bool without_year(Scanner& in, std::size_t before, std::int64_t month, std::int64_t day,
                  model::LogTime& time) {
  std::int64_t clock = 0;
  const auto days = days_since_1970(kLeapYear, month, day);
  if (!days || !read_clock(in, clock)) {
    in.move_to(before);
    return false;
  }
  time = {model::LogClock::kLocalNoYear, *days * kDay + clock};
  return true;
}

}  // namespace

std::optional<std::int64_t> days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::array kLengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1) return {};
  const std::int64_t length =
      kLengths[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
  if (day > length) return {};
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t era = y / 400, of_era = y % 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

bool read_clock(Scanner& in, std::int64_t& ns) {
  const std::size_t before = in.at();
  std::int64_t hour = 0, minute = 0, second = 0;
  if (!in.digits(1, 2, hour) || !in.take(':') || !in.digits(2, 2, minute) || !in.take(':') ||
      !in.digits(2, 2, second) || hour > 23 || minute > 59 || second > 60) {
    in.move_to(before);
    return false;
  }
  std::int64_t part = 0;
  if ((in.peek() == '.' || in.peek() == ',') && in.peek(1) >= '0' && in.peek(1) <= '9') {
    std::size_t digit = 1;
    for (std::int64_t scale = kSecond; in.peek(digit) >= '0' && in.peek(digit) <= '9'; ++digit) {
      scale /= 10;  // 0 behind the ninth
      part += (in.peek(digit) - '0') * scale;
    }
    in.move_to(in.at() + digit);
  }
  ns = ((hour * 60 + minute) * 60 + second) * kSecond + part;
  return true;
}

namespace {

constexpr std::size_t kDateLength = 11;

// "2026-02-18T", with '/' for '-' and a blank or '_' for 'T'.
bool read_date(std::string_view text, std::int64_t& year, std::int64_t& month, std::int64_t& day) {
  if (text.size() < kDateLength) return false;
  unsigned worst = 0;
  const auto digit = [&](std::size_t at) {
    const auto value = static_cast<unsigned>(static_cast<unsigned char>(text[at])) - '0';
    worst = std::max(worst, value);
    return static_cast<std::int64_t>(value);
  };
  year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  month = digit(5) * 10 + digit(6);
  day = digit(8) * 10 + digit(9);
  return worst <= 9 && (text[4] == '-' || text[4] == '/') && text[7] == text[4] &&
         (text[10] == 'T' || text[10] == ' ' || text[10] == '_');
}

}  // namespace

bool read_date_time(Scanner& in, model::LogTime& time) {
  const std::size_t before = in.at();
  const auto back = [&] {
    in.move_to(before);
    return false;
  };
  std::int64_t year = 0, month = 0, day = 0, clock = 0;
  if (!read_date(in.rest(), year, month, day)) return false;
  in.move_to(before + kDateLength);
  const auto days = days_since_1970(year, month, day);
  if (!days || !read_clock(in, clock)) return back();
  time = {model::LogClock::kLocal, *days * kDay + clock};
  std::int64_t zone = 0;
  const std::size_t behind = in.at();
  if (in.peek() == ' ' && (in.peek(1) == '+' || in.peek(1) == '-')) in.move_to(behind + 1);
  if (read_zone(in, zone)) {
    time = {model::LogClock::kUtc, time.ns - zone * kSecond};
  } else {
    in.move_to(behind);
    if (in.take(" UTC")) time.clock = model::LogClock::kUtc;
  }
  return true;
}

bool read_syslog_time(Scanner& in, model::LogTime& time) {
  const std::size_t before = in.at();
  const int month = month_of(in.rest());
  if (month == 0) return false;
  in.move_to(before + 3);
  std::int64_t day = 0;
  if (!in.take(' ')) {
    in.move_to(before);
    return false;
  }
  in.take(' ');
  if (!in.digits(1, 2, day) || !in.take(' ')) {
    in.move_to(before);
    return false;
  }
  return without_year(in, before, month, day, time);
}

bool read_ctime(Scanner& in, model::LogTime& time) {
  const std::size_t before = in.at();
  const std::string_view rest = in.rest();
  if (rest.size() < 4 || word_of_three("MonTueWedThuFriSatSun", rest) < 0) return false;
  in.move_to(before + 3);
  model::LogTime no_year;
  std::int64_t year = 0;
  if (!in.take(' ') || !read_syslog_time(in, no_year) || !in.take(' ') || !in.digits(4, 4, year)) {
    in.move_to(before);
    return false;
  }
  const int month = month_of(rest.substr(4));
  const std::int64_t day = no_year.ns / kDay - *days_since_1970(kLeapYear, month, 1) + 1;
  const auto days = days_since_1970(year, month, day);
  if (!days) {
    in.move_to(before);
    return false;
  }
  time = {model::LogClock::kLocal, *days * kDay + no_year.ns % kDay};
  return true;
}

bool read_glog_time(Scanner& in, model::LogTime& time) {
  const std::size_t before = in.at();
  std::int64_t month_day = 0;
  if (!in.digits(3, 4, month_day) || !in.take(' ')) {
    in.move_to(before);
    return false;
  }
  return without_year(in, before, month_day / 100, month_day % 100, time);
}

bool read_month_day_time(Scanner& in, model::LogTime& time) {
  const std::size_t before = in.at();
  std::int64_t month = 0, day = 0;
  if (!in.digits(2, 2, month) || !(in.take('-') || in.take('/')) || !in.digits(2, 2, day) || !in.take(' ')) {
    in.move_to(before);
    return false;
  }
  return without_year(in, before, month, day, time);
}

model::LogTime better_time(model::LogTime outer, model::LogTime inner) {
  if (!inner.known()) return outer;
  if (!outer.known()) return inner;
  if (outer.clock == model::LogClock::kUtc) return outer;
  if (inner.clock == model::LogClock::kUtc) return inner;
  if (outer.clock == model::LogClock::kLocalNoYear && inner.clock == model::LogClock::kLocal) return inner;
  return outer.clock == model::LogClock::kUptime && inner.clock != model::LogClock::kUptime ? inner : outer;
}

}  // namespace unhang::formats::log
