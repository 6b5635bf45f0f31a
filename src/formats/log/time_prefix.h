// SPDX-License-Identifier: Apache-2.0
//
// The times that stand in front of log lines.
#pragma once

#include <optional>

#include "formats/log/scanner.h"
#include "model/log_event.h"

namespace unhang::formats::log {

// Days since 1970 of a date in the Gregorian calendar (Howard Hinnant, chrono-compatible low-level date
// algorithms); nullopt for days that no month has.
std::optional<std::int64_t> days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day);

// "2026-02-18T10:48:25.681Z", "2026-02-18 10:28:25,496", "2026/02/18 10:28:25+02:00", "2026-05-21_15:43:03".
bool read_date_time(Scanner& in, model::LogTime& time);
// "10:28:25.123456789": nanoseconds since midnight. Seconds are a must.
bool read_clock(Scanner& in, std::int64_t& ns);
// "Feb 14 05:03:41", with one blank or two in front of a day of one digit.
bool read_syslog_time(Scanner& in, model::LogTime& time);
// "Tue Sep 12 10:00:00 2026", as ctime() prints.
bool read_ctime(Scanner& in, model::LogTime& time);
// "1016 03:31:38.928": month with or without leading zero, two digits of the day.
bool read_glog_time(Scanner& in, model::LogTime& time);
// "10-22 09:43:49".
bool read_month_day_time(Scanner& in, model::LogTime& time);

// The better of two times of one line, `outer` standing further left: one with a zone, else one with a year.
model::LogTime better_time(model::LogTime outer, model::LogTime inner);

}  // namespace unhang::formats::log
