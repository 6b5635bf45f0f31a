// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix_pieces.h"
#include "formats/log/time_prefix.h"

namespace unhang::formats::log {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "[rank7]:", "[default0]:": a global and a local rank.
bool take_rank(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  std::int64_t rank = 0;
  const bool global = in.take("[rank");
  if ((global || in.take("[default")) && in.digits(1, 7, rank) && in.take("]:")) {
    (global ? prefix.global_rank : prefix.local_rank) = static_cast<std::int32_t>(rank);
    // One blank is the prefix's, what stands behind it is the indentation of the text.
    in.take(' ');
    return true;
  }
  in.move_to(before);
  return false;
}

// "[1,12]<stdout>:".
bool take_mpi(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  std::int64_t job = 0, rank = 0;
  if (in.take('[') && in.digits(1, 9, job) && in.take(',') && in.digits(1, 7, rank) && in.take("]<std")) {
    if (in.take("out>:") || in.take("err>:") || in.take("out>") || in.take("err>")) {
      prefix.global_rank = static_cast<std::int32_t>(rank);
      in.take(' ');
      return true;
    }
  }
  in.move_to(before);
  return false;
}

// "[ 1843.308145] ", "[  +0.000316] ".
bool take_uptime(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.move_to(before + 1);
  in.blanks();
  const bool delta = in.take('+');
  std::int64_t seconds = 0, microseconds = 0;
  if (in.digits(1, 9, seconds) && in.take('.') && in.digits(6, 6, microseconds) && in.take(']')) {
    const model::LogTime time{model::LogClock::kUptime, seconds * kSecond + microseconds * 1000};
    if (!delta) {
      prefix.time = better_time(prefix.time, time);
    } else if (!prefix.time.known()) {
      prefix.time = time;
      prefix.delta = true;
    }
    prefix.kernel = true;
    in.take(' ');
    return true;
  }
  in.move_to(before);
  return false;
}

// "[Tue Sep 12 10:00:00 2026] " and "[Feb14 05:03] " of dmesg.
bool take_kernel_date(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.move_to(before + 1);
  model::LogTime time;
  if (read_ctime(in, time) && in.take("] ")) {
    prefix.time = better_time(prefix.time, time);
    prefix.kernel = true;
    return true;
  }
  in.move_to(before);
  // Made like a time of syslog: "Feb 14 05:03:00".
  const std::string_view rest = in.rest();
  if (rest.size() > 14 && rest[6] == ' ' && rest[9] == ':' && rest[12] == ']') {
    char text[] = "Feb 14 05:03:00";
    rest.copy(text, 3, 1);
    rest.copy(text + 4, 2, 4);
    rest.copy(text + 7, 5, 7);
    Scanner date(std::string_view(text, 15));
    if (read_syslog_time(date, time)) {
      prefix.time = better_time(prefix.time, time);
      prefix.kernel = true;
      in.move_to(before + 13);
      in.take(' ');
      return true;
    }
  }
  return false;
}

// "[2026-01-02 03:04:05 TP3] ", "[2026-01-02 03:04:05,123] [INFO] [file.py:12:f] ".
bool take_date(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.move_to(before + 1);
  model::LogTime time;
  if (!read_date_time(in, time)) {
    in.move_to(before);
    return false;
  }
  in.blanks();
  const std::size_t label = in.at();
  const std::string_view inside = in.until("]");
  if (!in.take(']') || inside.size() > 64) {
    in.move_to(before);
    return false;
  }
  (void)label;
  prefix.time = better_time(prefix.time, time);
  if (!inside.empty()) prefix.label = inside;
  in.take(':');
  in.take(' ');
  skip_level(in);
  take_source(in, prefix);
  return true;
}

// "[E1016 03:31:38.928019586 ProcessGroupNCCL.cpp:607] ", "[E ProcessGroupNCCL.cpp:475] ",
// "[I1028 12:13:38.405081 632355 ProcessGroupNCCL.cpp:843] ".
bool take_glog(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  const char level = in.peek(1);
  if (level != 'I' && level != 'W' && level != 'E' && level != 'F') return false;
  in.move_to(before + 2);
  model::LogTime time;
  std::int64_t pid = -1;
  if (is_digit(in.peek())) {
    if (!read_glog_time(in, time)) {
      in.move_to(before);
      return false;
    }
    in.blanks();
    const std::size_t number = in.at();
    if (!in.digits(1, 10, pid) || !in.take(' ')) {
      pid = -1;
      in.move_to(number);
    }
  } else if (!in.take(' ')) {
    in.move_to(before);
    return false;
  }
  if (in.peek() == '[' || !take_source(in, prefix)) {
    in.move_to(before);
    return false;
  }
  prefix.time = better_time(prefix.time, time);
  if (pid >= 0 && prefix.pid < 0) prefix.pid = pid;
  return true;
}

// "[INFO|trainer.py:1207] 2025-06-08 13:56:47,073 >> ".
bool take_level_and_source(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.move_to(before + 1);
  if (!take_level(in)) {
    in.move_to(before);
    return false;
  }
  if (in.take('|')) {
    model::LogTime time;
    if (take_source(in, prefix) && read_date_time(in, time)) {
      prefix.time = better_time(prefix.time, time);
      in.take(" >> ");
      in.take(" >>");
      return true;
    }
  } else if (in.take("] ")) {
    return true;
  }
  in.move_to(before);
  return false;
}

}  // namespace

Piece take_bracket(Scanner& in, Prefix& prefix) {
  const char second = in.peek(1);
  if (second == 'r' || second == 'd') return take_rank(in, prefix) ? Piece::kCertain : Piece::kNone;
  if (is_digit(second)) {
    if (take_date(in, prefix) || take_mpi(in, prefix) || take_uptime(in, prefix)) return Piece::kCertain;
    if (const std::size_t length = read_nccl_words(in.rest(), prefix); length != 0) {
      in.move_to(in.at() + length);
      return Piece::kCertain;
    }
    // A line number of who pasted the log.
    const std::size_t before = in.at();
    std::int64_t number = 0;
    if (in.take('[') && in.digits(1, 9, number) && in.take("] ")) return Piece::kDoubtful;
    in.move_to(before);
    return Piece::kNone;
  }
  if (second == ' ') return take_uptime(in, prefix) ? Piece::kCertain : Piece::kNone;
  return take_glog(in, prefix) || take_level_and_source(in, prefix) || take_kernel_date(in, prefix)
             ? Piece::kCertain
             : Piece::kNone;
}

}  // namespace unhang::formats::log
