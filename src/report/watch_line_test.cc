// SPDX-License-Identifier: Apache-2.0
#include "report/watch_line.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

constexpr std::int64_t kNow = 1'796'000'000'120'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

model::InstanceState stopped() {
  model::InstanceState state;
  state.name = "chat";
  state.state = model::State::kStopped;
  state.since_ns = kNow - 14 * kSecond;
  state.why = "4 requests run and neither a token nor a step was made for 14 s";
  state.moved_last = "engine";
  state.last_moved_ns = kNow - 14 * kSecond;
  state.lags = "rank 3 of b79ec9689dde9dc4 (8)";
  state.signals = {{"engine", true, "", kNow - 14 * kSecond, "4 running, 9 waiting"},
                   {"ras", false, "did not answer: connection refused", std::nullopt, ""}};
  state.findings = {"/health of engine answers 200 all the while: it does not see this stall"};
  return state;
}

TEST(WatchScreen, OneLineAnInstanceAndWordsBelowWhatIsNotWell) {
  model::InstanceState well;
  well.name = "embed";
  well.state = model::State::kAdvancing;
  well.since_ns = kNow - 7200 * kSecond;
  well.moved_last = "engine";
  well.last_moved_ns = kNow - kSecond / 2;
  well.signals = {{"engine", true, "", well.last_moved_ns, "2 running, 0 waiting"}};
  const auto lines = watch_screen({stopped(), well}, {120, false, kNow});
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0],
            "chat      stopped      14 s  engine moved 14 s ago; lags: rank 3 of b79ec9689dde9dc4 (8); 4 "
            "running, 9 waiting\n");
  EXPECT_EQ(lines[1], "    4 requests run and neither a token nor a step was made for 14 s\n");
  EXPECT_EQ(lines[2], "    /health of engine answers 200 all the while: it does not see this stall\n");
  EXPECT_EQ(lines[3], "    ras not usable: did not answer: connection refused\n");
  EXPECT_EQ(lines[4], "embed     advancing     2 h  engine moved 0.5 s ago; 2 running, 0 waiting\n");
}

TEST(WatchScreen, NoLineIsTooWideAndNothingActsOnTheTerminal) {
  model::InstanceState state = stopped();
  state.name = "a\x1b[31m" + std::string(100, 'n');
  state.why = std::string(300, 'w') + "\x1b[2J";
  state.lags = "\r\n\x07" + std::string(200, 'l');
  for (const int width : {40, 80, 200}) {
    for (const std::string& line : watch_screen({state}, {width, false, kNow})) {
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
      EXPECT_EQ(line.find('\r'), std::string::npos);
      EXPECT_LE(columns(line.substr(0, line.size() - 1)), width) << line;
    }
  }
}

TEST(WatchChange, SaysWhatChanged) {
  EXPECT_EQ(
      watch_change(stopped(), model::State::kAdvancing, {80, false, kNow}),
      "2026-11-30T00:53:20.120Z chat: advancing -> stopped since 00:53:06Z: 4 requests run and neither a "
      "token nor a "
      "step was made for 14 s; moved last: engine; lags: rank 3 of b79ec9689dde9dc4 (8); /health of engine "
      "answers "
      "200 all the while: it does not see this stall; ras not usable: did not answer: connection refused\n");
  const std::string first = watch_change(stopped(), std::nullopt, {80, false, kNow});
  EXPECT_EQ(first.find("->"), std::string::npos);
}

TEST(WatchJson, IsOneObjectALine) {
  model::InstanceState state = stopped();
  state.name = "a\"\n\xff";
  const std::string line = watch_json(state, true, kNow);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["schema"], "unhang.watch/1");
  EXPECT_EQ(json["event"], "state");
  EXPECT_EQ(json["state"], "stopped");
  EXPECT_EQ(json["since"], "2026-11-30T00:53:06.120000000Z");
  EXPECT_EQ(json["changed"], true);
  EXPECT_EQ(json["lags"], "rank 3 of b79ec9689dde9dc4 (8)");
  EXPECT_EQ(json["signals"].size(), 2u);
  EXPECT_EQ(json["signals"][0]["usable"], true);
  EXPECT_TRUE(json["signals"][0]["why_not"].is_null());
  EXPECT_TRUE(json["signals"][1]["last_moved"].is_null());
  EXPECT_EQ(json["findings"].size(), 1u);
  EXPECT_TRUE(nlohmann::json::parse(watch_json({}, false, kNow))["lags"].is_null());
}

TEST(WatchJson, Captures) {
  const auto json = nlohmann::json::parse(watch_capture_json("chat", "/var/crash/x", "", kNow));
  EXPECT_EQ(json["event"], "capture");
  EXPECT_EQ(json["folder"], "/var/crash/x");
  EXPECT_TRUE(json["trouble"].is_null());
}

}  // namespace
}  // namespace unhang::report
