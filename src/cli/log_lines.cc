// SPDX-License-Identifier: Apache-2.0
#include "cli/log_lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include "join/logs.h"

namespace unhang::cli {
namespace {

using formats::log::Line;
using model::LogClock;

// The last one comes first in a heap of the standard library.
bool later(const LogLine& a, const LogLine& b) {
  return a.ns != b.ns ? a.ns > b.ns : a.sequence > b.sequence;
}

// The middle of a year: every date of it is nearer to this than the same date of another year.
std::int64_t middle_of(std::int32_t year) {
  const std::int64_t days =
      365 * (std::int64_t{year} - 1970) + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
  return (days + 182) * std::int64_t{86'400'000'000'000} + std::int64_t{43'200'000'000'000};
}

// A time that does not fit is as good as none.
std::optional<std::int64_t> minus(std::int64_t ns, std::int64_t zone_ns) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(ns, zone_ns, &result)) return std::nullopt;
  return result;
}

}  // namespace

LogLevel level_of(const Line& line) {
  using formats::log::NcclLevel;
  if (line.nccl == NcclLevel::kWarn) return LogLevel::kWarn;
  if (line.nccl != NcclLevel::kNone) return LogLevel::kInfo;
  // What stands in front of the message, and its first word: loggers print the level in either.
  const std::size_t at = line.whole.size() - std::min(line.whole.size(), line.message.size());
  const std::size_t word = std::min(line.message.find(' '), std::size_t{40});
  const std::string_view first = line.message.substr(0, word);
  const std::string_view head = line.whole.substr(0, std::min(at, std::size_t{200}));
  const auto stands = [&](std::string_view text) {
    return head.find(text) != std::string_view::npos || first.find(text) != std::string_view::npos;
  };
  const auto letter = [&](char c) {
    for (std::size_t i = 0; i + 2 < head.size(); ++i) {
      if (head[i] == '[' && head[i + 1] == c &&
          (head[i + 2] == ' ' || (head[i + 2] >= '0' && head[i + 2] <= '9')))
        return true;
    }
    return false;
  };
  constexpr std::array<std::string_view, 4> kErrors{"ERROR", "CRITICAL", "FATAL", "Traceback"};
  if (letter('E') || letter('F') || std::any_of(kErrors.begin(), kErrors.end(), stands) ||
      first.ends_with("Error:") || first.ends_with("Exception:") ||
      (line.kernel && line.message.find("Xid") != std::string_view::npos))
    return LogLevel::kError;
  if (letter('W') || stands("WARN")) return LogLevel::kWarn;
  if (letter('I') || stands("INFO") || stands("DEBUG")) return LogLevel::kInfo;
  return LogLevel::kUnstated;
}

LogLines::LogLines(const LogTimeRules& rules, const LogWriters& writers, std::size_t file, std::size_t window)
    : x_rules(rules),
      x_writers(writers),
      x_file(file),
      x_window(window),
      x_facts(x_log),
      x_stream(x_facts, prepared(), [this](const Line& line) { take(line); }) {
  x_stream.all_lines(true);
}

const formats::log::KeywordFilter& LogLines::prepared() {
  formats::log::LineStream::add_keywords(x_filter);
  x_filter.prepare();
  return x_filter;
}

LogLine LogLines::pop() {
  std::pop_heap(x_heap.begin(), x_heap.end(), later);
  LogLine line = std::move(x_heap.back());
  x_heap.pop_back();
  x_bytes -= line.message.size();
  return line;
}

void LogLines::take(const Line& line) {
  if (line.message.empty()) return;
  LogLine out;
  out.number = line.number;
  out.sequence = x_sequence++;
  out.level = level_of(line);
  out.message = line.message;
  settle(line, out);
  while (x_names.size() < x_log.origins.size())
    x_names.push_back(x_writers.of(x_file, x_log.origins[x_names.size()]));
  const LogWriter& writer = x_names[line.origin];
  out.host = writer.host;
  out.rank = writer.rank;
  x_bytes += out.message.size();
  x_heap.push_back(std::move(out));
  std::push_heap(x_heap.begin(), x_heap.end(), later);
}

void LogLines::settle(const Line& line, LogLine& out) {
  if (x_last_of.size() <= line.origin) x_last_of.resize(line.origin + 1);
  Last& own = x_last_of[line.origin];
  std::optional<std::int64_t> ns;
  switch (line.time.clock) {
    case LogClock::kUtc:
      ns = line.time.ns;
      break;
    case LogClock::kLocal:
      ns = minus(line.time.ns, x_rules.zone_ns.value_or(0));
      break;
    case LogClock::kLocalNoYear:
      ns = minus(join::with_year(line.time.ns, x_rules.year ? middle_of(*x_rules.year) : x_rules.near_ns),
                 x_rules.zone_ns.value_or(0));
      break;
    case LogClock::kNone:
    case LogClock::kUptime:
      break;
  }
  if (!ns) {
    // Behind what its writer said last, and behind the line above it: the writer's own time may be old.
    const Last& from = line.time.clock == LogClock::kNone && own.ns > x_last.ns ? own : x_last;
    out.ns = from.ns;
    out.place = line.time.known() ? LogPlace::kUnplaced : from.place;
    return;
  }
  if (line.time.clock == LogClock::kUtc || line.time.clock == LogClock::kLocal)
    x_rules.near_ns = line.time.ns;
  out.ns = *ns;
  out.place = line.time.clock == LogClock::kUtc || x_rules.zone_ns ? LogPlace::kStated : LogPlace::kZone;
  if (x_last.ns == LogLine::kNoTime) place_first(out);
  x_last = own = {out.ns, out.place};
}

// What stood in front of the first time of the file was written before it, and not before everything.
void LogLines::place_first(const LogLine& first) {
  for (LogLine& line : x_heap) line.ns = first.ns;
  std::make_heap(x_heap.begin(), x_heap.end(), later);
}

}  // namespace unhang::cli
