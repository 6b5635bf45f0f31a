// SPDX-License-Identifier: Apache-2.0
//
// Reads a text with one family of messages alone, as the spine would ask it: only for lines with one of its
// triggers, and for every line while it is open. Takes off "[seconds] " and "kernel: " and nothing else.
#pragma once

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/log/families.h"

namespace unhang::formats::log {

inline void take_off_prefix(Line& line) {
  std::string_view& text = line.message;
  if (const std::size_t at = text.find("kernel: "); at != std::string_view::npos && at < 40) {
    text.remove_prefix(at + 8);
    line.kernel = true;
  }
  const std::size_t bracket = text.find("] ");
  const std::size_t digit = text.find_first_not_of("[ ");
  if (!text.starts_with('[') || bracket == std::string_view::npos || digit == std::string_view::npos) return;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data() + digit, text.data() + bracket, seconds);
  if (error != std::errc() || end != text.data() + bracket) return;
  line.time = {model::LogClock::kUptime, static_cast<std::int64_t>(seconds * 1e9)};
  line.kernel = true;
  text.remove_prefix(bracket + 2);
}

inline model::Log read_with(std::unique_ptr<Family> family, std::string_view text) {
  model::Log log;
  Facts facts(log);
  Line line;
  line.origin = facts.origin({});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++line.number;
    line.whole = line.message = text.substr(at, end - at);
    line.kernel = false;
    line.time = {};
    take_off_prefix(line);
    const auto triggers = family->triggers();
    const bool asked =
        family->open() || std::any_of(triggers.begin(), triggers.end(), [&](std::string_view trigger) {
          return line.message.find(trigger) != std::string_view::npos;
        });
    ++log.lines;
    if (asked && family->take(line, facts)) ++log.recognised;
    at = end + 1;
  }
  family->finish(facts);
  return log;
}

inline std::vector<const model::LogEvent*> events_of(const model::Log& log, model::LogEventKind kind) {
  std::vector<const model::LogEvent*> out;
  for (const model::LogEvent& event : log.events) {
    if (event.kind == kind) out.push_back(&event);
  }
  return out;
}

}  // namespace unhang::formats::log
