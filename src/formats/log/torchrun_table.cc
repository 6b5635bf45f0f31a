// SPDX-License-Identifier: Apache-2.0
#include "formats/log/torchrun_table.h"

#include <utility>

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

// Lines behind a known one in which the table may go on: an entry has seven.
constexpr int kLinesOn = 10;

// "exitcode  : -9 (pid: 1)" -> "exitcode"; empty where no key of the table begins the line.
std::string_view key_of(std::string_view text) {
  for (const std::string_view key : {"time", "host", "rank", "exitcode", "error_file", "traceback"}) {
    if (!text.starts_with(key)) continue;
    const std::string_view rest = trimmed(text.substr(key.size()));
    if (rest.starts_with(':')) return key;
  }
  return {};
}

}  // namespace

void TorchrunTable::begin_entry(Facts& facts) {
  if (x_entry.begun && x_entry.exit_code) {
    facts.add(event_of(model::LogEventKind::kProcessExit, *x_entry.exit_code, x_entry.rank,
                       x_root ? "root" : "", x_entry.host),
              x_entry.line);
  }
  x_entry = {};
}

bool TorchrunTable::take_key(std::string_view key, std::string_view value, const Line& line, Facts& facts) {
  const bool repeated = (key == "time" && x_entry.begun) || (key == "host" && !x_entry.host.empty()) ||
                        (key == "rank" && x_entry.rank >= 0) || (key == "exitcode" && x_entry.exit_code);
  if (repeated) begin_entry(facts);
  if (!x_entry.begun) {
    x_entry.begun = true;
    x_entry.line = line;
    x_entry.line.whole = x_entry.line.message = x_entry.line.source_file = {};
  }
  if (key == "host") {
    x_entry.host = shown(value);
  } else if (key == "rank") {
    x_entry.rank = rank_after(value, "");
  } else if (key == "exitcode") {
    if (const auto code = leading_number(value)) x_entry.exit_code = *code;
  } else if (key == "traceback") {
    if (!x_entry.exit_code && value.starts_with("Signal ")) {
      if (const auto signal = leading_number(value.substr(7))) x_entry.exit_code = -*signal;
    }
    begin_entry(facts);
  }
  x_lines_left = kLinesOn;
  return true;
}

bool TorchrunTable::take(const Line& line, Facts& facts) {
  if (x_lines_left > 0) --x_lines_left;
  const std::string_view text = trimmed(line.message);
  const bool root = has(text, "(first observed failure)");
  if (root || text == "Failures:") {
    begin_entry(facts);
    x_root = root;
    x_lines_left = kLinesOn;
    return true;
  }
  const std::string_view key = key_of(text);
  if (!key.empty() && (x_lines_left > 0 || key == "exitcode")) {
    const std::string_view value = trimmed(text.substr(text.find(':') + 1));
    return take_key(key, value, line, facts);
  }
  // Copied from a picture: "rank2 (local rank: 2)exitcode: -9 (pid: 36071)error file: <N/A>".
  if (text.starts_with("rank")) {
    std::string_view code = behind(text, ")exitcode").value_or("");
    while (code.starts_with(':') || code.starts_with(' ')) code.remove_prefix(1);
    const auto number = leading_number(code);
    if (number) {
      begin_entry(facts);
      facts.add(event_of(model::LogEventKind::kProcessExit, *number, rank_after(text, "rank"),
                         x_root ? "root" : ""),
                line);
      return true;
    }
  }
  if (x_lines_left > 0 && text.starts_with("====")) {
    begin_entry(facts);
    x_lines_left = 0;
    x_root = false;
    return true;
  }
  if (x_lines_left == 0) {
    begin_entry(facts);
    x_root = false;
  }
  return false;
}

void TorchrunTable::finish(Facts& facts) {
  begin_entry(facts);
}

}  // namespace unhang::formats::log
