// SPDX-License-Identifier: Apache-2.0
//
// Incidents with several kinds of evidence: what one source says of a host, a process or a device, the others
// say as well, and the readers know the words.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "simulate/placement.h"
#include "simulate/simulate.h"

namespace unhang::simulate {
namespace {

using model::LogEventKind;
using Files = std::map<std::string, std::string>;

struct Made {
  Plan plan;
  Truth truth;
  Files files;

  formats::Evidence read(const std::string& name) const {
    return formats::read_evidence(name, files.at(name));
  }
  std::vector<std::string> names(std::string_view ending) const {
    std::vector<std::string> out;
    for (const auto& [name, bytes] : files) {
      if (name.ends_with(ending)) out.push_back(name);
    }
    return out;
  }
};

Made make(const Plan& plan) {
  Made made{plan, {}, {}};
  auto truth = simulate(plan, [&](std::string_view name, std::string_view bytes) -> base::Result<> {
    EXPECT_TRUE(made.files.emplace(name, bytes).second) << name;
    return {};
  });
  EXPECT_TRUE(truth.has_value()) << (truth ? "" : truth.error().message);
  if (truth) made.truth = *truth;
  return made;
}

Plan incident(FaultKind fault, std::uint64_t seed = 1) {
  Plan plan;
  plan.ranks = 8;
  plan.tp = 2;
  plan.entries = 60;
  plan.hosts = 2;
  plan.fault = fault;
  plan.seed = seed;
  plan.sources = kAllSources;
  return plan;
}

// Of all logs, with the host whose folder they are in.
std::vector<std::pair<std::string, model::LogEvent>> events(const Made& made, LogEventKind kind) {
  std::vector<std::pair<std::string, model::LogEvent>> out;
  for (const auto& [name, bytes] : made.files) {
    for (const model::Log& log : formats::read_evidence(name, bytes).logs) {
      for (const model::LogEvent& event : log.events) {
        if (event.kind == kind) out.emplace_back(name.substr(0, name.find('/')), event);
      }
    }
  }
  return out;
}

TEST(Incident, DumpsAloneAreWhatTheyAlwaysWere) {
  Plan plan;
  plan.entries = 60;
  plan.fault = FaultKind::kRankNotEntered;
  const Made made = make(plan);
  EXPECT_EQ(made.files.size(), 9U);
  const auto truth = nlohmann::json::parse(made.files.at("truth.json"));
  EXPECT_FALSE(truth.contains("hosts"));
  EXPECT_FALSE(truth.contains("complete"));
}

TEST(Incident, EachSourceIsThere) {
  const Made made = make(incident(FaultKind::kRankNotEntered));
  EXPECT_EQ(made.names(".json"), (std::vector<std::string>{"ras-1.json", "ras-2.json", "truth.json"}));
  EXPECT_EQ(made.names("/dmesg.txt"), (std::vector<std::string>{"node01/dmesg.txt", "node02/dmesg.txt"}));
  EXPECT_FALSE(made.names(".log").empty());
  EXPECT_TRUE(made.files.contains("nccl_trace_rank_7"));
}

TEST(Incident, EveryFileIsRecognised) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Made made = make(incident(FaultKind::kOomKilled, seed));
    for (const auto& [name, bytes] : made.files) {
      if (name == "truth.json") continue;
      const formats::Evidence evidence = formats::read_evidence(name, bytes);
      EXPECT_NE(evidence.kind, "unknown") << name;
    }
  }
}

TEST(Incident, RasAndLogsAgreeOnProcessesAndCommunicators) {
  const Made made = make(incident(FaultKind::kRankNotEntered));
  const Placement place(made.plan);
  std::map<std::uint64_t, std::map<std::int32_t, std::int64_t>> of_logs;  // communicator, rank: pid
  for (const std::string& name : made.names(".log")) {
    for (const model::Log& log : made.read(name).logs) {
      for (const model::LogCommunicator& each : log.communicators) {
        EXPECT_TRUE(each.completed);
        of_logs[each.id.value()][each.rank] = log.origins[each.origin].pid;
      }
    }
  }
  std::size_t compared = 0;
  const auto answers = made.read("ras-1.json").ras_answers;
  ASSERT_EQ(answers.size(), 1U);
  for (const auto& communicator : answers[0].communicators) {
    for (const model::RasRank& rank : communicator.ranks) {
      EXPECT_EQ(of_logs.at(communicator.hash).at(rank.rank), rank.pid);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8U + 8U + 8U);  // world, tp, dp
}

TEST(Incident, OnlyThoseWhoWaitComplainAndWhenTheirLimitIsOver) {
  Plan plan = incident(FaultKind::kRankNotEntered);
  plan.skew_ns = 2000000000;
  const Made made = make(plan);
  std::vector<std::int32_t> complained;
  for (const std::string& name : made.names(".log")) {
    for (const model::Log& log : made.read(name).logs) {
      for (const model::WatchdogTimeout& each : log.timeouts) {
        EXPECT_EQ(each.timeout_ms, 600000);
        EXPECT_GE(each.sequence, 1);
        if (each.group_description == "default_pg") complained.push_back(each.group_rank);
      }
    }
  }
  std::sort(complained.begin(), complained.end());
  EXPECT_EQ(complained.size(), 7U);
  EXPECT_EQ(std::count(complained.begin(), complained.end(), made.truth.culprits.front()), 0);
}

TEST(Incident, TheLaggingRankHasLaunchedLessInBothAnswers) {
  const Made made = make(incident(FaultKind::kRankNotEntered));
  for (const char* name : {"ras-1.json", "ras-2.json"}) {
    const auto answers = made.read(name).ras_answers;
    ASSERT_EQ(answers.size(), 1U);
    for (const auto& communicator : answers[0].communicators) {
      if (communicator.ranks.size() != 8) continue;  // not the world
      std::uint64_t most = 0;
      std::uint64_t culprits = 0;
      for (const model::RasRank& rank : communicator.ranks) {
        std::uint64_t sum = 0;
        for (const auto& count : rank.counts) sum += count.value_or(0);
        most = std::max(most, sum);
        if (rank.rank == made.truth.culprits.front()) culprits = sum;
      }
      EXPECT_LT(culprits, most);
    }
  }
}

TEST(Incident, TheXidNamesTheDeviceAndTheProcessOfTheCulprit) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Made made = make(incident(FaultKind::kGpuXid, seed));
    const Placement place(made.plan);
    const std::int32_t culprit = made.truth.culprits.front();
    const auto xids = events(made, LogEventKind::kXid);
    ASSERT_EQ(xids.size(), 1U);
    EXPECT_EQ(xids[0].first, place.host_name(place.host_of(culprit)));
    EXPECT_EQ(xids[0].second.subject, place.bus_id(culprit));
    EXPECT_NE(xids[0].second.text.find("pid=" + std::to_string(place.pid(culprit))), std::string::npos);
  }
}

TEST(Incident, WhoIsKilledLeavesNoDumpAndIsMissingInRas) {
  const Made made = make(incident(FaultKind::kOomKilled));
  const Placement place(made.plan);
  const std::int32_t culprit = made.truth.culprits.front();
  EXPECT_FALSE(made.files.contains("nccl_trace_rank_" + std::to_string(culprit)));
  const auto kills = events(made, LogEventKind::kOutOfMemoryKill);
  ASSERT_FALSE(kills.empty());
  EXPECT_EQ(kills[0].second.code, place.pid(culprit));
  bool missing = false;
  for (const auto& communicator : made.read("ras-2.json").ras_answers.at(0).communicators) {
    for (const model::RasRank& rank : communicator.ranks)
      missing = missing || (rank.pid == place.pid(culprit) && rank.presence == model::RasPresence::kDead);
  }
  EXPECT_TRUE(missing);
}

TEST(Incident, MissingPiecesAreListedAndNotThere) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Plan plan = incident(FaultKind::kRankNotEntered, seed);
    const Made whole = make(plan);
    plan.missing = true;
    const Made made = make(plan);
    EXPECT_FALSE(made.truth.complete);
    EXPECT_FALSE(made.truth.lost.empty());
    EXPECT_EQ(made.files.size() + made.truth.lost.size(), whole.files.size());
    for (const std::string& name : made.truth.lost) {
      EXPECT_TRUE(whole.files.contains(name)) << name;
      EXPECT_FALSE(made.files.contains(name)) << name;
    }
  }
}

TEST(Incident, TheSamePlanGivesTheSameBytes) {
  Plan plan = incident(FaultKind::kProcessExited, 5);
  plan.skew_ns = 2000000000;
  EXPECT_EQ(make(plan).files, make(plan).files);
}

TEST(Incident, ClocksOfHostsDifferInAllTheirSources) {
  Plan plan = incident(FaultKind::kRankNotEntered);
  plan.skew_ns = 3600000000000;
  const Made made = make(plan);
  const Placement place(plan);
  const auto truth = nlohmann::json::parse(made.files.at("truth.json"));
  ASSERT_EQ(truth["hosts"].size(), 2U);
  for (std::int32_t host = 0; host < 2; ++host)
    EXPECT_EQ(truth["hosts"][static_cast<std::size_t>(host)]["clock_offset_ns"], place.clock_offset(host));
  EXPECT_NE(place.clock_offset(0), place.clock_offset(1));
}

}  // namespace
}  // namespace unhang::simulate
