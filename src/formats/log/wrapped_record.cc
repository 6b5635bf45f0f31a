// SPDX-License-Identifier: Apache-2.0
#include "formats/log/wrapped_record.h"

#include <algorithm>
#include <array>

namespace unhang::formats::log {
namespace {

struct Shape {
  std::string_view begin, end;
  bool digits_behind;  // a number follows the end, and the record is whole only with it
};

constexpr std::array<Shape, 6> kShapes{{
    {"caught collective operation timeout", "before timing out", false},
    {"detected by watchdog at work: ", "last completed NCCL work: ", true},
    {"detected by watchdog at work sequence id: ", "last completed work: ", true},
    {"Timeout at NCCL work: ", "last completed NCCL work: ", true},
    {"Got completion ", "vendor", false},
    {"Got completion ", "len", false},
}};

// Words that stand whole in those records: behind one a blank is missing, inside of one it is not.
constexpr std::array<std::string_view, 26> kWords{
    "Watchdog",     "caught",    "collective", "operation", "timeout:",  "ran",       "for",
    "milliseconds", "before",    "timing",     "last",      "enqueued",  "completed", "NCCL",
    "work:",        "Exception", "either",     "an",        "error",     "or",        "timeout)",
    "detected",     "by",        "watchdog",   "Got",       "completion"};

std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.find_last_of(" \t");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

}  // namespace

bool is_unfinished(std::string_view line) {
  for (const Shape& shape : kShapes) {
    const std::size_t begin = line.find(shape.begin);
    if (begin == std::string_view::npos) continue;
    const std::size_t end = line.find(shape.end, begin);
    if (end == std::string_view::npos) return true;
    if (!shape.digits_behind) continue;
    const std::size_t behind = end + shape.end.size();
    if (behind >= line.size() || line[behind] < '0' || line[behind] > '9') return true;
  }
  return false;
}

void join_wrapped(std::string& record, std::string_view next) {
  const bool indented = next.starts_with(' ') || next.starts_with('\t');
  while (!next.empty() && (next.front() == ' ' || next.front() == '\t')) next.remove_prefix(1);
  if (record.empty() || record.back() == ' ' || next.empty()) {
    record += next;
    return;
  }
  const char last = record.back();
  const bool whole = last == ',' || last == ':' || last == ')' || last == '.' ||
                     std::find(kWords.begin(), kWords.end(), last_word(record)) != kWords.end();
  if (indented || whole) record += ' ';
  record += next;
}

}  // namespace unhang::formats::log
