// SPDX-License-Identifier: Apache-2.0
//
// Tables of lines and of the one event that each must give, for the tests of the families of messages.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

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

inline void expect_told(MakeFamily make, std::span<const ToldLine> lines) {
  for (const ToldLine& told : lines) {
    const model::Log log = read_with(make(), told.line);
    ASSERT_EQ(log.events.size(), 1u) << told.line;
    const model::LogEvent& event = log.events[0];
    EXPECT_EQ(model::name_of(event.kind), model::name_of(told.kind)) << told.line;
    EXPECT_EQ(event.code, told.code) << told.line;
    EXPECT_EQ(event.rank, told.rank) << told.line;
    EXPECT_EQ(event.subject, told.subject) << told.line;
    EXPECT_EQ(event.peer, told.peer) << told.line;
    EXPECT_EQ(event.detail, told.detail) << told.line;
    EXPECT_LE(event.text.size(), 200u + 3u) << told.line;
  }
}

// Lines that look like messages and tell nothing.
inline void expect_quiet(MakeFamily make, std::span<const std::string_view> lines) {
  for (const std::string_view line : lines) {
    const model::Log log = read_with(make(), line);
    for (const model::LogEvent& event : log.events)
      ADD_FAILURE() << line << " -> " << model::name_of(event.kind);
    EXPECT_TRUE(log.timeouts.empty()) << line;
  }
}

// Cut at any byte, doubled, and with bytes changed: whatever comes out, nothing breaks and nothing is
// unbounded.
inline void expect_robust(MakeFamily make, std::span<const ToldLine> lines) {
  for (const ToldLine& told : lines) {
    const std::string line(told.line);
    for (std::size_t cut = 0; cut <= line.size(); ++cut) {
      const std::string front = line.substr(0, cut), back = line.substr(cut);
      EXPECT_LE(read_with(make(), front).events.size(), 64u);
      EXPECT_LE(read_with(make(), back).events.size(), 64u);
      read_with(make(), front + "\n" + back + "\n" + line);
      std::string changed = line;
      if (cut < changed.size())
        changed[cut] = static_cast<char>(cut % 3 == 0 ? '\0' : cut % 3 == 1 ? '(' : '9');
      read_with(make(), changed);
    }
  }
}

}  // namespace unhang::formats::log
