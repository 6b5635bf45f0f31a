// SPDX-License-Identifier: Apache-2.0
#include "formats/log/prefix_pieces.h"

#include "formats/log/time_prefix.h"

namespace unhang::formats::log {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <std::size_t kSize>
bool take_whole_word(Scanner& in, const char (&word)[kSize]) {
  return in.stands_here(word) && !of_name(in.peek(kSize - 1)) && in.take(word);
}

// Behind a time of journald or syslog: "host kernel: ", "host program[12]: ".
bool take_syslog_writer(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  std::size_t n = 0;
  while (of_name(in.peek(n)) || in.peek(n) == ':') ++n;
  const std::string_view host = in.rest().substr(0, n);
  if (n == 0 || in.peek(n) != ' ') return false;
  in.move_to(before + n + 1);
  if (in.take("kernel:")) {
    prefix.kernel = true;
    in.take(' ');
  } else {
    n = 0;
    while (of_name(in.peek(n)) || in.peek(n) == '/' || in.peek(n) == '@') ++n;
    in.move_to(in.at() + n);
    std::int64_t pid = 0;
    const bool with_pid = n != 0 && in.take('[') && in.digits(1, 10, pid) && in.take(']');
    if (n == 0 || (!with_pid && in.peek() == '[') || !in.take(": ")) {
      in.move_to(before);
      return false;
    }
    if (with_pid && !prefix.host_is_nccl && prefix.pid < 0) prefix.pid = pid;
  }
  if (prefix.host.empty()) prefix.host = host;
  return true;
}

// Behind a date and a time.
void after_date(Scanner& in, Prefix& prefix) {
  if (in.take(" stdout F ") || in.take(" stderr F ") || in.take(" stdout P ") || in.take(" stderr P "))
    return;
  if (in.take(": ") || in.take(" - ")) {
    // Python: "name - LEVEL - ".
    const std::size_t before = in.at();
    std::size_t n = 0;
    while (of_name(in.peek(n))) ++n;
    in.move_to(before + n);
    if (!(n != 0 && in.take(" - ") && take_level(in) && in.take(" - "))) {
      in.move_to(before);
      if (!(take_level(in) && in.take(" - "))) in.move_to(before);
    }
    return;
  }
  if (in.take(' ')) {
    if (!take_syslog_writer(in, prefix)) skip_level(in);
    take_source(in, prefix);
  } else if (in.take(':') || in.take('\t')) {
    in.blanks();
  }
}

// "(EngineCore_DP0 pid=12) ", "(RayWorkerWrapper pid=270291, ip=10.0.0.5) ", "(VllmWorker rank=1 pid=3) ".
bool take_parenthesis(Scanner& in, Prefix& prefix) {
  const std::string_view rest = in.rest();
  const std::size_t end = rest.substr(0, 160).find(')');
  if (end == std::string_view::npos) return false;
  Scanner inside(rest.substr(1, end - 1));
  const std::string_view name = inside.until(" ");
  std::int64_t pid = -1, rank = -1;
  std::string_view address;
  bool known = false;
  while (inside.take(' ')) {
    if (inside.take("pid=")) {
      if (!inside.digits(1, 10, pid)) return false;
      known = true;
    } else if (inside.take("ip=")) {
      address = inside.until(", ");
    } else if (inside.take("rank=")) {
      if (!inside.digits(1, 6, rank)) return false;
    } else {
      return false;
    }
    inside.take(',');
  }
  if (!known || !inside.at_end() || name.empty()) return false;
  if (prefix.pid < 0) prefix.pid = pid;
  if (!address.empty()) prefix.host = address;
  prefix.label = rank >= 0 ? rest.substr(1, end - 1).substr(0, rest.find(" pid=") - 1) : name;
  in.move_to(in.at() + end + 1);
  in.take(' ');
  return true;
}

// glog without bracket: "E0517 08:24:03.805000 140123 torch/x/api.py:826] ".
bool take_glog(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.move_to(before + 1);
  model::LogTime time;
  if (!is_digit(in.peek()) || !read_glog_time(in, time)) {
    in.move_to(before);
    return false;
  }
  std::int64_t pid = -1;
  in.blanks();
  in.digits(1, 10, pid);
  in.blanks();
  if (in.take("PID ")) pid = -1;
  if (!take_source(in, prefix)) {
    in.move_to(before);
    return false;
  }
  prefix.time = better_time(prefix.time, time);
  if (pid >= 0 && prefix.pid < 0) prefix.pid = pid;
  return true;
}

// "INFO 10-22 09:43:49 [file.py:466] ", "WARNING 2026-01-01 12:00:00,123 ", "INFO:2026-01-01 ".
bool take_level_and_time(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  if (!take_level(in)) return false;
  if (!in.take(':')) in.blanks();
  model::LogTime time;
  if (!read_month_day_time(in, time) && !read_date_time(in, time)) {
    in.move_to(before);
    return false;
  }
  prefix.time = better_time(prefix.time, time);
  if (in.take(" - ")) return true;
  in.blanks();
  take_source(in, prefix);
  return true;
}

}  // namespace

bool take_level(Scanner& in) {
  switch (in.peek()) {
    case 'I':
      return take_whole_word(in, "INFO");
    case 'W':
      return take_whole_word(in, "WARNING") || take_whole_word(in, "WARN");
    case 'E':
      return take_whole_word(in, "ERROR") || take_whole_word(in, "Error");
    case 'D':
      return take_whole_word(in, "DEBUG");
    case 'C':
      return take_whole_word(in, "CRITICAL");
    case 'F':
      return take_whole_word(in, "FATAL");
    case 'T':
      return take_whole_word(in, "TRACE");
    case 'i':
      return take_whole_word(in, "info");
    case 'e':
      return take_whole_word(in, "error");
    case 'w':
      return take_whole_word(in, "warning");
    default:
      return false;
  }
}

void skip_level(Scanner& in) {
  const std::size_t before = in.at();
  const bool bracket = in.take('[');
  const bool bar = !bracket && in.take("| ");
  if (take_level(in)) {
    if (bracket && !in.take(']')) in.move_to(before);
    in.blanks();
    if (bar || in.peek() == '|') {
      in.take('|');
      in.blanks();
    } else if (in.take("- ") || in.take(": ")) {
      in.blanks();
    }
    return;
  }
  in.move_to(before);
}

bool take_source(Scanner& in, Prefix& prefix) {
  const std::size_t before = in.at();
  in.take('[');
  const std::string_view file = in.until(":] \t");
  std::int64_t line = 0;
  const bool named = !file.empty() && file.find('.') != std::string_view::npos;
  if (!named || !in.take(':') || !in.digits(1, 9, line)) {
    in.move_to(before);
    return false;
  }
  if (in.take(':')) in.until("] \t");
  if (!in.take(']')) {
    in.move_to(before);
    return false;
  }
  in.take(' ');
  prefix.source_file = file;
  prefix.source_line = line;
  return true;
}

// "2026-11-29T11:59:20,578136+00:00": the time of `dmesg --time-format iso`. Behind it stands no writer: "usb
// 1-14: new device" is no host with a program.
bool is_time_of_dmesg(std::string_view time) {
  constexpr std::size_t kComma = 19;
  constexpr std::size_t kLength = 32;
  if (time.size() != kLength || time[10] != 'T' || time[kComma] != ',' || time[kLength - 3] != ':')
    return false;
  for (std::size_t i = kComma + 1; i <= kComma + 6; ++i) {
    if (!is_digit(time[i])) return false;
  }
  return true;
}

Piece take_piece(Scanner& in, Prefix& prefix, const NodeNames& nodes, std::string_view& doubtful_node) {
  const char first = in.peek();
  if (first == '[') return take_bracket(in, prefix);
  if (first == '(') return take_parenthesis(in, prefix) ? Piece::kCertain : Piece::kNone;
  if (is_digit(first) || is_letter(first)) {
    if (const std::size_t length = read_nccl_prefix(in.rest(), prefix); length != 0) {
      in.move_to(in.at() + length);
      return Piece::kCertain;
    }
  }
  model::LogTime time;
  if (is_digit(first)) {
    const std::string_view rest = in.rest();
    const std::size_t begin = in.at();
    if (read_date_time(in, time)) {
      prefix.time = better_time(prefix.time, time);
      if (is_time_of_dmesg(rest.substr(0, in.at() - begin))) {
        prefix.kernel = true;
        in.take(' ');
      } else {
        after_date(in, prefix);
      }
      return Piece::kCertain;
    }
    return take_node(in, prefix, nodes, doubtful_node);
  }
  if (is_letter(first)) {
    if ((first == 'I' || first == 'W' || first == 'E' || first == 'F') && is_digit(in.peek(1)) &&
        take_glog(in, prefix)) {
      return Piece::kCertain;
    }
    if (first == 'N' && in.stands_here("NCCL ")) {
      const std::size_t length = read_nccl_words(in.rest(), prefix);
      in.move_to(in.at() + length);
      return length == 0 ? Piece::kNone : Piece::kCertain;
    }
    if (read_syslog_time(in, time) || read_ctime(in, time)) {
      prefix.time = better_time(prefix.time, time);
      if (!in.take(": ")) in.take(' ');
      take_syslog_writer(in, prefix);
      return Piece::kCertain;
    }
    if (take_level_and_time(in, prefix)) return Piece::kCertain;
    if (in.take("kernel: ")) {
      prefix.kernel = true;
      return Piece::kCertain;
    }
    return take_node(in, prefix, nodes, doubtful_node);
  }
  if (in.take("> ") || in.take("**") || in.take("\xe2\x94\x82") || in.take("``")) {
    in.blanks();
    return Piece::kDecoration;
  }
  if (first == '`' && in.rest().ends_with('`') && in.take('`')) return Piece::kDecoration;
  if (first == '<' && is_digit(in.peek(1)) && in.peek(2) == '>') {
    in.move_to(in.at() + 3);
    return Piece::kDoubtful;
  }
  if (first == ' ' || first == '\t') {
    in.blanks();
    return Piece::kDoubtful;
  }
  return Piece::kNone;
}

}  // namespace unhang::formats::log
