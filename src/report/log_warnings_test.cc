// SPDX-License-Identifier: Apache-2.0
#include "report/log_warnings.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

using model::LogClock;
using model::LogEventKind;
using model::LogRole;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kTime = 1'796'035'883 * kSecond + 100'000'000;  // 2026-11-30T10:51:23.1Z

class LogWarningsTest : public testing::Test {
 protected:
  LogWarningsTest() {
    x_case.inputs = {{"a.log", "text_log", {}}, {"b.log", "text_log", {}}};
    const auto add_writer = [this](std::string host, std::int32_t rank) {
      model::LogOrigin& origin = x_case.logs.origins.emplace_back();
      origin.host = std::move(host);
      origin.global_rank = rank;
    };
    add_writer("node3", 4);
    add_writer("node3", 5);
    add_writer("node4", 8);
  }
  model::LogEvent& add(LogEventKind kind, std::uint32_t origin, std::uint64_t line) {
    model::LogEvent event;
    event.kind = kind;
    event.origin = origin;
    event.line = event.last_line = line;
    event.text = "quoted";
    return x_case.logs.events.emplace_back(event);
  }
  model::LogEvent& add_completion(std::uint32_t origin, std::uint64_t line, std::int64_t seconds) {
    model::LogEvent& event = add(LogEventKind::kCompletionError, origin, line);
    event.code = 12;
    event.peer = "node7<" + std::to_string(40000 + line) + ">";
    event.first = event.last = {LogClock::kUtc, kTime + seconds * kSecond};
    return event;
  }
  void add_timeout(std::uint32_t origin, std::int64_t sequence, std::int32_t group_rank = -1) {
    model::WatchdogTimeout timeout;
    timeout.origin = origin;
    timeout.line = 9;
    timeout.group = "0";
    timeout.group_description = "default_pg";
    timeout.operation = "ALLREDUCE";
    timeout.sequence = sequence;
    timeout.group_rank = group_rank;
    timeout.timeout_ms = 600'000;
    x_case.logs.timeouts.push_back(timeout);
  }
  std::string screen(bool all = false, int width = 80) const {
    return render_log_warnings(gather_log_warnings(x_case), x_case, all, width);
  }
  nlohmann::json json(bool all = false) const {
    return nlohmann::json::parse(log_warnings_json(gather_log_warnings(x_case), x_case, all));
  }
  model::Case x_case;
};

TEST_F(LogWarningsTest, ProcessesOfOneHostAreOneRow) {
  add_completion(0, 5, 3).count = 4;
  add_completion(1, 3, 0).input = 1;
  add_completion(1, 8, 7);
  add_completion(2, 9, 1);
  const LogWarnings found = gather_log_warnings(x_case);
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].count, 6u);
  EXPECT_EQ(found.rows[0].ranks, (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(found.rows[0].event->input, 1u);
  EXPECT_EQ(found.rows[0].last.ns, kTime + 7 * kSecond);
  EXPECT_EQ(found.rows[1].host, "node4");
  EXPECT_EQ(log_warning_sentence(found.rows[0], false),
            "NET/IB status 12 x 6, first 10:51:23.1Z node3 -> node7");
  EXPECT_EQ(log_warning_sentence(found.rows[1], true),
            "NET/IB status 12, 2026-11-30 10:51:24.1Z node4 -> node7");
}

TEST_F(LogWarningsTest, WhatDiffersStaysApart) {
  add_completion(0, 1, 0);
  add_completion(0, 2, 0).code = 5;
  add_completion(0, 3, 0).subject = "mlx5_0";
  add_completion(0, 4, 0).detail = "vendor 129";
  add_completion(0, 5, 0).peer = "node8";
  EXPECT_EQ(gather_log_warnings(x_case).rows.size(), 5u);
}

TEST_F(LogWarningsTest, TimesAreShownAsTheyAreKnown) {
  model::LogEvent& event = add(LogEventKind::kXid, 0, 7);
  event.code = 79;
  event.subject = "0000:b3:00";
  event.rank = 1;  // fatal: no rank
  const auto sentence = [&] { return log_warning_sentence(gather_log_warnings(x_case).rows[0], false); };
  EXPECT_EQ(sentence(), "Xid 79 0000:b3:00, line 7 node3");
  event.first = {LogClock::kLocal, kTime};
  EXPECT_EQ(sentence(), "Xid 79 0000:b3:00, 10:51:23.1 node3");
  event.first.ns = kTime + 36'900'000'000;  // 10:52:00
  EXPECT_EQ(sentence(), "Xid 79 0000:b3:00, 10:52:00 node3");
  event.first = {LogClock::kUptime, 1'843'308'000'000};
  EXPECT_EQ(sentence(), "Xid 79 0000:b3:00, 1843.308 s up node3");
  EXPECT_EQ(gather_log_warnings(x_case).rows[0].ranks, std::vector<std::int32_t>{4});
}

TEST_F(LogWarningsTest, CausesComeFirstAndConsequencesAreCounted) {
  add(LogEventKind::kUnwinding, 0, 1);
  add(LogEventKind::kDumpSignal, 0, 2);
  add(LogEventKind::kNoHca, 0, 3);
  add(LogEventKind::kTrainingStep, 0, 4);
  add(LogEventKind::kConnectionClosed, 0, 5);
  add(LogEventKind::kCudaOutOfMemory, 1, 6);
  add_timeout(0, 41);
  EXPECT_EQ(screen(),
            "causes\n"
            "! CUDA out of memory, line 6 node3\n"
            "  rank 5 · a.log line 6: quoted\n"
            "causes or consequences\n"
            "? connection closed, line 5 node3\n"
            "  rank 4 · a.log line 5: quoted\n"
            "time-outs of the watchdog\n"
            "? time-out of ALLREDUCE #41 in default_pg (0): 1 rank gave up (rank 4), first\n"
            "  line 9, after 600 s\n"
            "  a.log line 9\n"
            "and 2 consequences: --all shows them\n");
  const std::string all = screen(true);
  EXPECT_NE(all.find("\nconsequences\n  unwinding, line 1 node3\n"), std::string::npos) << all;
  EXPECT_NE(all.find("\nnotes\n  no HCA, line 3 node3\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("training"), std::string::npos);
  EXPECT_EQ(all.find("--all"), std::string::npos);
}

TEST_F(LogWarningsTest, ConsequencesAloneAreShown) {
  add(LogEventKind::kDumpSignal, 0, 2);
  EXPECT_EQ(screen(), "consequences\n  dump signal, line 2 node3\n  rank 4 · a.log line 2: quoted\n");
}

TEST_F(LogWarningsTest, WhatWasForgottenIsSaid) {
  x_case.logs.forgotten = 1200;
  EXPECT_EQ(screen(), "no warning stands in these logs\n1,200 more facts were beyond the bounds of memory\n");
}

TEST_F(LogWarningsTest, NothingAndNotesOnly) {
  EXPECT_EQ(screen(), "no warning stands in these logs\n");
  add(LogEventKind::kNoHca, 0, 3);
  EXPECT_EQ(screen(), "no warning stands in these logs\n1 note: --all shows it\n");
}

TEST_F(LogWarningsTest, TimeoutsOfOneOperationAreOneRow) {
  add_timeout(0, 41, 0);
  add_timeout(1, 41, 1);
  add_timeout(1, 41, 1);
  add_timeout(2, 42, 2);
  x_case.logs.timeouts[3].collapsed = 5;
  const LogWarnings found = gather_log_warnings(x_case);
  ASSERT_EQ(found.timeouts.size(), 2u);
  EXPECT_EQ(found.timeouts[0].reporters, 2u);
  EXPECT_EQ(found.timeouts[0].ranks, (std::vector<std::int32_t>{4, 5}));
  EXPECT_FALSE(found.timeouts[0].ranks_of_group);
  EXPECT_EQ(found.timeouts[0].hosts, std::vector<std::string>{"node3"});
  EXPECT_EQ(found.timeouts[1].collapsed, 5);
  for (model::LogOrigin& origin : x_case.logs.origins) origin.global_rank = -1;
  const LogWarnings unnamed = gather_log_warnings(x_case);
  EXPECT_EQ(unnamed.timeouts[0].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(unnamed.timeouts[0].ranks_of_group);
}

TEST_F(LogWarningsTest, TimeoutsWithoutAGroupJoinTheOnlyOne) {
  add_timeout(0, 41);
  add_timeout(1, 41);
  x_case.logs.timeouts[1].group.clear();
  x_case.logs.timeouts[1].group_description.clear();
  ASSERT_EQ(gather_log_warnings(x_case).timeouts.size(), 1u);
  EXPECT_EQ(gather_log_warnings(x_case).timeouts[0].ranks, (std::vector<std::int32_t>{4, 5}));
  add_timeout(2, 41);
  x_case.logs.timeouts[2].group = "7";  // now it may be of either
  x_case.logs.timeouts[2].group_description = "tp";
  EXPECT_EQ(gather_log_warnings(x_case).timeouts.size(), 3u);
}

TEST_F(LogWarningsTest, JsonHoldsConsequencesAlwaysAndNotesWithAll) {
  add_completion(0, 5, 0).detail = "vendor 129";
  add(LogEventKind::kDumpSignal, 1, 6).rank = 3;
  add(LogEventKind::kNoHca, 0, 7);
  add_timeout(0, 41);
  const nlohmann::json found = json();
  EXPECT_EQ(found["schema"], "unhang.log_warnings/1");
  ASSERT_EQ(found["warnings"].size(), 2u);
  EXPECT_EQ(found["warnings"][0], nlohmann::json::parse(R"json({"kind":"completion_error","role":"either",
      "count":1,"code":12,"subject":null,"peer":"node7<40005>","detail":"vendor 129","hosts":["node3"],
      "ranks":[4],"first":"2026-11-30T10:51:23.100Z","last":"2026-11-30T10:51:23.100Z","file":"a.log",
      "line":5,"text":"quoted"})json"));
  EXPECT_EQ(found["warnings"][1]["ranks"], nlohmann::json({3}));
  EXPECT_EQ(found["timeouts"][0],
            nlohmann::json::parse(R"json({"group":"default_pg (0)","operation":"ALLREDUCE",
      "sequence":41,"rank_count":1,"ranks":[4],"ranks_of":"world","left_out":0,"hosts":["node3"],
      "timeout_ms":600000,"first":null,"last":null,"file":"a.log","line":9
})json"));
  EXPECT_EQ(json(true)["warnings"].size(), 3u);
}

TEST_F(LogWarningsTest, LinesOfStrangersStayInTheirWidth) {
  model::LogEvent& event = add(LogEventKind::kOtherWarning, 0, 1);
  event.subject = std::string(300, 's');
  event.peer = "\x1b[31m" + std::string(200, 'p');
  event.text = std::string(200, 't') + "\n";
  const std::string text = screen(false, 80);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(text.substr(at, end - at).size(), 80u + 4);  // "…" and "·" take more bytes than columns
    at = end + 1;
  }
}

TEST(PeerWithoutPort, OnlyTheEndIsAPort) {
  EXPECT_EQ(peer_without_port("10.0.0.7<41234>"), "10.0.0.7");
  EXPECT_EQ(peer_without_port("fe80::1%ib0<53249>"), "fe80::1%ib0");
  EXPECT_EQ(peer_without_port("node7"), "node7");
  EXPECT_EQ(peer_without_port(">"), ">");
}

}  // namespace
}  // namespace unhang::report
