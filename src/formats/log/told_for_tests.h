// SPDX-License-Identifier: Apache-2.0
//
// Tables of lines and of the one event that each must give, for the tests of the families of messages. What
// is not as it must be comes back as text, so that a test expects "".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/log/one_family_for_tests.h"

namespace unhang::formats::log {

using MakeFamily = std::unique_ptr<Family> (*)();

struct ToldLine {
  std::string_view line;
  model::LogEventKind kind;
  std::int64_t code = 0;
  std::int32_t rank = -1;
  std::string_view subject = {}, peer = {}, detail = {};
};

inline std::string in_words(std::string_view kind, std::int64_t code, std::int32_t rank,
                            std::string_view subject, std::string_view peer, std::string_view detail) {
  std::string words(kind);
  words += " code " + std::to_string(code) + " rank " + std::to_string(rank);
  words += " subject '" + std::string(subject) + "' peer '" + std::string(peer);
  return words + "' detail '" + std::string(detail) + "'";
}

// One line for each that gives another event, several, or none.
inline std::string not_told(MakeFamily make, std::span<const ToldLine> lines) {
  std::string faults;
  for (const ToldLine& told : lines) {
    const model::Log log = read_with(make(), told.line);
    std::string got;
    for (const model::LogEvent& event : log.events) {
      if (!got.empty()) got += " and ";
      got += in_words(name_of(event.kind), event.code, event.rank, event.subject, event.peer, event.detail);
    }
    const std::string wanted =
        in_words(name_of(told.kind), told.code, told.rank, told.subject, told.peer, told.detail);
    if (got != wanted) faults += std::string(told.line) + "\n  is     " + got + "\n  not    " + wanted + "\n";
  }
  return faults;
}

// Lines that look like messages and tell nothing: one line for each that tells something.
inline std::string told_of(MakeFamily make, std::span<const std::string_view> lines) {
  std::string faults;
  for (const std::string_view line : lines) {
    const model::Log log = read_with(make(), line);
    for (const model::LogEvent& event : log.events) {
      faults += std::string(line) + " -> " + std::string(name_of(event.kind)) + "\n";
    }
    if (!log.timeouts.empty()) faults += std::string(line) + " -> a time-out\n";
  }
  return faults;
}

// The most events that come of a line cut at any byte, of its halves as two lines, and of it with a byte
// changed.
inline std::size_t most_events_of_damaged(MakeFamily make, std::span<const ToldLine> lines) {
  std::size_t most = 0;
  for (const ToldLine& told : lines) {
    const std::string line(told.line);
    for (std::size_t cut = 0; cut <= line.size(); ++cut) {
      const std::string front = line.substr(0, cut), back = line.substr(cut);
      std::string changed = line;
      if (cut < changed.size()) changed[cut] = cut % 3 == 0 ? '\0' : cut % 3 == 1 ? '(' : '9';
      for (const std::string& text : {front, back, front + "\n" + back + "\n" + line, changed}) {
        most = std::max(most, read_with(make(), text).events.size());
      }
    }
  }
  return most;
}

}  // namespace unhang::formats::log
