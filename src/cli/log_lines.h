// SPDX-License-Identifier: Apache-2.0
//
// The lines of one log file with the time at which each was written, for merging files. Pure: bytes in, lines
// out; nothing is opened here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/log_writers.h"
#include "formats/log/facts.h"
#include "formats/log/keyword_filter.h"
#include "formats/log/line_stream.h"

namespace unhang::cli {

enum class LogPlace : std::uint8_t {
  kStated,    // the time and its zone stand in the log, or the zone was given by --tz
  kZone,      // the zone is not stated: taken as UTC
  kUnplaced,  // a clock without an anchor, or no time yet: put behind the last line that had one
};

enum class LogLevel : std::uint8_t { kUnstated, kInfo, kWarn, kError };

struct LogLine {
  static constexpr std::int64_t kNoTime = INT64_MIN;

  std::int64_t ns = kNoTime;  // since 1970, UTC; kNoTime: before everything
  LogPlace place = LogPlace::kUnplaced;
  LogLevel level = LogLevel::kUnstated;
  std::int32_t rank = -1;      // -1: not known
  std::uint64_t number = 0;    // line in its file, from 1
  std::uint64_t sequence = 0;  // order in its file; lines can share a number
  std::string host;            // empty: not known
  std::string message;         // without prefixes, as it was read
};

struct LogTimeRules {
  std::optional<std::int64_t> zone_ns = {};  // east of UTC; absent: not known
  std::optional<std::int32_t> year = {};     // of dates without one
  std::int64_t near_ns = 0;  // else: dates without a year are near to this, until a full one comes
};

// Memory: the window (at most `window` lines or 4 MiB of them, whichever is less, and those of one block),
// and an entry for each writer.
class LogLines {
 public:
  static constexpr std::size_t kWindow = 4096;

  // `writers` must outlive this. Lines that go backwards by no more than the window are sorted.
  LogLines(const LogTimeRules& rules, const LogWriters& writers, std::size_t file,
           std::size_t window = kWindow);
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // Blocks may end anywhere.
  void feed(std::string_view bytes) { x_stream.feed(bytes); }
  // No byte follows.
  void finish() { x_stream.finish(); }

  bool window_is_full() const { return x_heap.size() >= x_window || x_bytes >= kWindowBytes; }
  bool empty() const { return x_heap.empty(); }
  // The earliest line of the window. It must not be empty.
  const LogLine& top() const { return x_heap.front(); }
  LogLine pop();

 private:
  static constexpr std::size_t kWindowBytes = std::size_t{4} << 20;

  const formats::log::KeywordFilter& prepared();
  void take(const formats::log::Line& line);
  void settle(const formats::log::Line& line, LogLine& out);
  void place_first(const LogLine& first);

  LogTimeRules x_rules;
  const LogWriters& x_writers;
  std::size_t x_file;
  std::size_t x_window;
  model::Log x_log;
  formats::log::Facts x_facts;
  formats::log::KeywordFilter x_filter;
  formats::log::LineStream x_stream;
  struct Last {
    std::int64_t ns = LogLine::kNoTime;
    LogPlace place = LogPlace::kUnplaced;
  };
  Last x_last;                     // of the file
  std::vector<Last> x_last_of;     // by writer
  std::vector<LogWriter> x_names;  // by writer
  std::vector<LogLine> x_heap;     // earliest first
  std::size_t x_bytes = 0;         // of the messages in it
  std::uint64_t x_sequence = 0;
};

// How bad a line says it is: NCCL's level, the letter of glog, a level that a logger printed, the name of an
// exception, or an Xid of the kernel.
LogLevel level_of(const formats::log::Line& line);

}  // namespace unhang::cli
