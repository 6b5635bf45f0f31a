// SPDX-License-Identifier: Apache-2.0
//
// Evidence of another instance or job in the same folder.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"
#include "join/join.h"

namespace unhang::join {
namespace {

formats::Evidence log_of(const char* path, std::int64_t pid, std::uint64_t communicator) {
  formats::Evidence out;
  out.path = path;
  out.kind = "log";
  model::Log& log = out.logs.emplace_back();
  log.lines = log.recognised = 1;
  log.origins.emplace_back().host = "node1";
  log.origins.back().pid = pid;
  model::LogCommunicator& own = log.communicators.emplace_back();
  own.id = communicator;
  own.rank = 0;
  own.ranks = 2;
  return out;
}

formats::Evidence ras_of(std::uint64_t communicator, const char* path = "ras.json",
                         std::int64_t first_pid = 100) {
  formats::Evidence out;
  out.path = path;
  out.kind = "nccl_ras_json";
  model::RasAnswer& answer = out.ras_answers.emplace_back();
  answer.complete = true;
  model::RasCommunicator& world = answer.communicators.emplace_back();
  world.hash = communicator;
  world.size = 2;
  for (int rank = 0; rank < 2; ++rank) {
    model::RasRank& own = world.ranks.emplace_back();
    own.rank = rank;
    own.host = "10.0.0.1";
    own.pid = first_pid + rank;
  }
  return out;
}

model::Case joined(std::vector<formats::Evidence> evidence, const Hints& hints = {}) {
  CaseBuilder builder(1);
  builder.add(std::move(evidence));
  return builder.finish(hints);
}

TEST(OtherInstances, ALogOfAnotherJobThanTheOneThatAnswersIsSetAside) {
  const model::Case both =
      joined(list(log_of("a.log", 100, 0xabc), log_of("b.log", 999, 0xdef), ras_of(0xabc)));
  ASSERT_EQ(both.set_aside.size(), 1U);
  EXPECT_EQ(both.inputs[both.set_aside[0].input].path, "b.log");
  EXPECT_EQ(both.logs.communicators.size(), 1U);
}

TEST(OtherInstances, LogsAloneOfAnotherRunStay) {
  const model::Case started_again = joined(list(log_of("b.log", 999, 0xdef), ras_of(0xabc)));
  EXPECT_TRUE(started_again.set_aside.empty());
  EXPECT_EQ(started_again.logs.communicators.size(), 1U);
}

formats::Evidence dump_of(const char* path) {
  TestDump dump(path);
  dump.world("[0, 1]").call("all_reduce", 1, "completed");
  return dump.finish();
}

// The same size, and by name the other job's answer is first: the logs say whose it is.
TEST(OtherInstances, OfTwoJobsThatAnswerTheOneOfTheLogsIsTaken) {
  for (const bool with_dumps : {false, true}) {
    auto evidence = list(log_of("a.log", 100, 0xabc), ras_of(0xdef, "other.json", 900), ras_of(0xabc));
    if (with_dumps) evidence.push_back(dump_of("dump_0"));
    const model::Case both = joined(std::move(evidence));
    ASSERT_EQ(both.ras.views.size(), 1U);
    EXPECT_EQ(both.ras.views[0].communicators[0].hash, 0xabcU);
    ASSERT_EQ(both.set_aside.size(), 1U);
    EXPECT_EQ(both.inputs[both.set_aside[0].input].path, "other.json");
    EXPECT_EQ(both.logs.communicators.size(), 1U);
  }
}

TEST(OtherInstances, AnAnswerThatSharesNothingWithTheLogsOfTheDumpsIsSetAside) {
  const model::Case foreign =
      joined(list(log_of("a.log", 100, 0xabc), dump_of("dump_0"), ras_of(0xdef, "other.json", 900)));
  EXPECT_TRUE(foreign.ras.views.empty());
  ASSERT_EQ(foreign.set_aside.size(), 1U);
  EXPECT_EQ(foreign.set_aside[0].reason,
            "its communicators and processes are not those of the logs: another job or run");
  EXPECT_EQ(foreign.logs.communicators.size(), 1U);
  // Communicators come and go, also those of a program that goes on.
  const model::Case same_process =
      joined(list(log_of("a.log", 900, 0xabc), dump_of("dump_0"), ras_of(0xdef, "ras.json", 900)));
  EXPECT_EQ(same_process.ras.views.size(), 1U);
  EXPECT_TRUE(same_process.set_aside.empty());
}

// A text answer names nobody of the communicators in which all is well.
TEST(OtherInstances, AnAnswerThatLeavesMuchUnnamedStays) {
  formats::Evidence text = ras_of(0xdef, "ras.txt", 900);
  text.kind = "nccl_ras_text";
  text.ras_answers[0].rows.emplace_back().communicators = 3;
  text.ras_answers[0].rows.back().size = 2;
  const model::Case unknown = joined(list(log_of("a.log", 100, 0xabc), dump_of("dump_0"), std::move(text)));
  EXPECT_EQ(unknown.ras.views.size(), 1U);
  EXPECT_TRUE(unknown.set_aside.empty());
}

formats::Evidence bundle_of(const char* folder, const char* instance, std::size_t files) {
  formats::Evidence out;
  out.path = std::string(folder) + "/manifest.json";
  out.kind = "bundle";
  model::BundleManifest& bundle = out.bundles.emplace_back();
  bundle.host = folder;
  bundle.instance = instance;
  model::BundleSource& source = bundle.sources.emplace_back();
  source.kind = "nccl_log";
  for (std::size_t i = 0; i < files; ++i) source.files.push_back({.path = std::to_string(i) + ".log"});
  return out;
}

TEST(OtherInstances, OfTwoModelInstancesOneIsLookedAt) {
  const auto evidence = [] {
    return list(log_of("a/0.log", 100, 0xabc), bundle_of("a", "llama-1", 1), log_of("b/0.log", 200, 0xdef),
                log_of("b/1.log", 201, 0xdef), bundle_of("b", "llama-2", 2));
  };
  const model::Case largest = joined(evidence());
  EXPECT_EQ(largest.logs.communicators.size(), 2U);
  ASSERT_EQ(largest.set_aside.size(), 1U);
  EXPECT_EQ(largest.set_aside[0].reason, "of model instance llama-1: --instance llama-1 looks at it");
  ASSERT_EQ(largest.bundles.size(), 1U);
  Hints hints;
  hints.instance = "llama-1";
  const model::Case asked = joined(evidence(), hints);
  EXPECT_EQ(asked.logs.communicators.size(), 1U);
  EXPECT_EQ(asked.set_aside.size(), 2U);
}

}  // namespace
}  // namespace unhang::join
