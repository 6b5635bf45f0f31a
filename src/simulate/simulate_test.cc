// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulate/random.h"

namespace unhang::simulate {
namespace {

using Files = std::map<std::string, std::string>;

base::Result<Truth> simulate_into(const Plan& plan, Files& files) {
  return simulate(plan, [&](std::string_view name, std::string_view bytes) -> base::Result<> {
    EXPECT_TRUE(files.emplace(name, bytes).second) << name << " was written twice";
    return {};
  });
}

// Walks a pickle as a stack machine that knows only depths: empty text where the file is one well-formed
// object whose memo is numbered in order, else what is wrong.
std::string pickle_fault(std::string_view bytes) {
  if (!bytes.starts_with("\x80\x02")) return "no protocol 2";
  std::vector<std::size_t> marks;
  std::size_t depth = 0;
  std::uint64_t memo = 0;
  std::size_t at = 2;
  const auto number = [&](std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    at += size;
    return value;
  };
  while (at < bytes.size()) {
    const char op = bytes[at++];
    switch (op) {
      case '}':
      case ']':
      case 'N':
      case '\x88':
      case '\x89':
        ++depth;
        break;
      case 'K':
        number(1);
        ++depth;
        break;
      case 'M':
        number(2);
        ++depth;
        break;
      case 'J':
        number(4);
        ++depth;
        break;
      case 'G':
        number(8);
        ++depth;
        break;
      case '\x8a':
        if (number(1) != 8) return "a long of another size";
        number(8);
        ++depth;
        break;
      case 'X':
        at += number(4);
        ++depth;
        break;
      case '\x86':
        if (depth < 2) return "a pair of too little";
        --depth;
        break;
      case '(':
        marks.push_back(depth);
        break;
      case 'q':
      case 'r':
        if (depth == 0) return "nothing to remember";
        if (number(op == 'q' ? 1 : 4) != memo) return "the memo is out of order";
        if ((op == 'q') != (memo < 256)) return "a memo number of the wrong width";
        ++memo;
        break;
      case 'h':
      case 'j': {
        const std::uint64_t index = number(op == 'h' ? 1 : 4);
        if (index >= memo) return "a memo number that was not set";
        if ((op == 'h') != (index < 256)) return "a memo number of the wrong width";
        ++depth;
        break;
      }
      case 'u':
      case 'e': {
        if (marks.empty()) return "no mark";
        const std::size_t items = depth - marks.back();
        if (op == 'u' && items % 2 != 0) return "a key without a value";
        depth = marks.back();
        marks.pop_back();
        if (depth == 0) return "no container";
        break;
      }
      case '.':
        if (!marks.empty() || depth != 1) return "unbalanced at the end";
        return at == bytes.size() ? "" : "bytes after the end";
      default:
        return "an opcode that the recorder does not write";
    }
  }
  return "no end";
}

TEST(Simulate, AnyPlanGivesWellFormedDumpsAndATruthOfThisWorld) {
  constexpr std::array<std::array<std::int32_t, 3>, 7> kLayouts = {
      {{2, 1, 1}, {3, 1, 1}, {4, 2, 2}, {5, 1, 1}, {8, 2, 2}, {12, 3, 2}, {16, 4, 1}}};
  Random random(7);
  int made = 0;
  int refused = 0;
  for (int round = 0; round < 220; ++round) {
    Plan plan;
    const auto& layout = kLayouts[random.below(kLayouts.size())];
    plan.ranks = layout[0];
    plan.tp = layout[1];
    plan.pp = layout[2];
    plan.entries = 1 + static_cast<std::int32_t>(random.below(300));
    plan.steps = static_cast<std::int32_t>(random.below(4));
    plan.frames = static_cast<std::int32_t>(random.below(10));
    plan.seed = random.next();
    plan.fault = fault_catalogue()[static_cast<std::size_t>(round) % fault_catalogue().size()].kind;
    plan.only_active = random.below(4) == 0;
    plan.timing = random.below(4) == 0;
    if (random.below(4) == 0)
      plan.culprit = static_cast<std::int32_t>(random.below(static_cast<std::size_t>(plan.ranks)));
    if (random.below(4) == 0) plan.backend = "gloo";
    Files files;
    const auto truth = simulate_into(plan, files);
    if (!truth) {
      EXPECT_EQ(truth.error().code, base::ErrorCode::kUsage);
      EXPECT_TRUE(files.empty());
      ++refused;
      continue;
    }
    ++made;
    Files again;
    ASSERT_TRUE(simulate_into(plan, again));
    EXPECT_TRUE(files == again) << "the same plan gave other bytes";
    const std::size_t silent = truth->without_dump.size();
    if (plan.fault <= FaultKind::kTruncatedDump) {
      EXPECT_EQ(silent, plan.fault == FaultKind::kRankSilent ? 1U : 0U);
    }
    EXPECT_EQ(files.size(), static_cast<std::size_t>(plan.ranks) - silent + 1);
    EXPECT_TRUE(std::is_sorted(truth->culprits.begin(), truth->culprits.end()));
    for (const auto& ranks : {truth->culprits, truth->injected}) {
      for (const std::int32_t rank : ranks) EXPECT_TRUE(rank >= 0 && rank < plan.ranks);
    }
    EXPECT_FALSE(truth->acceptable.empty());
    for (const auto& [name, bytes] : files) {
      if (name == "truth.json") continue;
      const bool cut = plan.fault == FaultKind::kTruncatedDump &&
                       name == "nccl_trace_rank_" + std::to_string(truth->injected.at(0));
      EXPECT_EQ(pickle_fault(bytes).empty(), !cut)
          << name << " of " << truth->description << ": " << pickle_fault(bytes);
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(refused, 10);
}

TEST(Simulate, TheCheckerOfThisTestSeesFaults) {
  Plan plan;
  plan.ranks = 2;
  plan.steps = 1;
  Files files;
  ASSERT_TRUE(simulate_into(plan, files));
  const std::string good = files.at("nccl_trace_rank_0");
  EXPECT_EQ(pickle_fault(good), "");
  EXPECT_NE(pickle_fault(good + "."), "");
  EXPECT_NE(pickle_fault(good.substr(0, good.size() - 1)), "");
  std::string wrong = good;
  wrong[wrong.find("version") + 8] = '\x05';  // the first memo number
  EXPECT_NE(pickle_fault(wrong), "");
}

TEST(Simulate, WritesTheTruthInTheFormOfTheRecordedScenarios) {
  Plan plan;
  plan.ranks = 4;
  plan.fault = FaultKind::kRankNotEntered;
  plan.culprit = 2;
  plan.entries = 50;
  plan.seed = 11;
  Files files;
  const auto truth = simulate_into(plan, files);
  ASSERT_TRUE(truth.has_value());
  EXPECT_EQ(truth->culprits, std::vector<std::int32_t>{2});
  EXPECT_EQ(files.at("truth.json"), to_json(*truth));
  EXPECT_EQ(files.at("truth.json"), R"({
 "scenario": "rank_not_entered",
 "description": "Rank 2 stops on its host and never calls the nccl:broadcast of the world that all others wait in.",
 "world_size": 4,
 "pg": "0",
 "op": "nccl:broadcast",
 "timing": false,
 "buffer_size": 50,
 "acceptable": [
  {
   "category": "collective_desync",
   "causes": [
    "rank_not_entered"
   ]
  }
 ],
 "culprits": [
  2
 ],
 "may_be_inconclusive": false,
 "injected": [
  2
 ],
 "plan": {
  "fault": "rank_not_entered",
  "seed": 11,
  "tp": 1,
  "pp": 1,
  "dp": 4,
  "frames": 4,
  "backend": "nccl",
  "format": "pickle",
  "only_active": false
 }
}
)");
}

TEST(Simulate, FillsTheRingAndTurnsItUnlessStepsAreGiven) {
  Plan plan;
  plan.ranks = 2;
  plan.entries = 100;
  plan.format = DumpFormat::kJson;
  Files files;
  ASSERT_TRUE(simulate_into(plan, files));
  const std::string& wrapped = files.at("nccl_trace_rank_1.json");
  EXPECT_EQ(wrapped.find("\"record_id\":0,"), std::string::npos);
  EXPECT_EQ(std::count(wrapped.begin(), wrapped.end(), '{') - 8,
            100);  // the root, three members, two groups in two of them
  plan.steps = 2;
  Files short_run;
  ASSERT_TRUE(simulate_into(plan, short_run));
  EXPECT_NE(short_run.at("nccl_trace_rank_1.json").find("\"record_id\":0,"), std::string::npos);
}

TEST(Simulate, RefusesPlansThatMakeNoSense) {
  const auto message = [](auto change) {
    Plan plan;
    change(plan);
    Files files;
    const auto truth = simulate_into(plan, files);
    EXPECT_TRUE(files.empty());
    if (truth) return std::string("accepted");
    EXPECT_EQ(truth.error().code, base::ErrorCode::kUsage);
    return truth.error().message;
  };
  EXPECT_EQ(message([](Plan& p) { p.tp = 3; }),
            "8 ranks cannot be split into tp 3 x pp 1: 8 is not a multiple of 3");
  EXPECT_EQ(message([](Plan& p) { p.ranks = 1; }), "ranks 1: must be from 2 to 65536");
  EXPECT_EQ(message([](Plan& p) { p.entries = 0; }), "entries 0: must be from 1 to 1048576");
  EXPECT_EQ(message([](Plan& p) { p.frames = -1; }), "frames -1: must be from 0 to 64");
  EXPECT_EQ(message([](Plan& p) { p.culprit = 8; }), "culprit 8: the job has ranks 0 to 7");
  EXPECT_EQ(message([](Plan& p) { p.backend = "mpi"; }), "backend \"mpi\": must be nccl or gloo");
  EXPECT_EQ(message([](Plan& p) { p.file_prefix = "../x"; }), "file prefix \"../x\": must not name a folder");
  EXPECT_EQ(message([](Plan& p) { p.fault = FaultKind::kP2pDeadlock; }),
            "fault p2p_deadlock: needs a pipeline: pp >= 2");
  EXPECT_EQ(message([](Plan& p) { p.fault = FaultKind::kSubgroupNotEntered; }),
            "fault subgroup_not_entered: needs tensor-parallel groups: tp >= 2");
  EXPECT_EQ(message([](Plan& p) {
              p.ranks = 4;
              p.fault = FaultKind::kSeveralNotEntered;
            }),
            "fault several_not_entered: needs at least 5 ranks");
  EXPECT_EQ(message([](Plan& p) {
              p.fault = FaultKind::kRank0NotEntered;
              p.culprit = 3;
            }),
            "fault rank0_not_entered: its culprit is always rank 0; use rank_not_entered for another rank");
  EXPECT_EQ(message([](Plan& p) {
              p.ranks = 65536;
              p.entries = 1 << 20;
            }).substr(0, 63),
            "65536 ranks with 1048576 entries: too large a job to simulate (");
}

TEST(Simulate, HandsOnWhatTheWriterSays) {
  Plan plan;
  plan.ranks = 2;
  plan.steps = 1;
  int written = 0;
  const auto truth = simulate(plan, [&](std::string_view, std::string_view) -> base::Result<> {
    ++written;
    return base::fail(base::ErrorCode::kIo, "disk full");
  });
  ASSERT_FALSE(truth.has_value());
  EXPECT_EQ(truth.error().message, "disk full");
  EXPECT_EQ(written, 1);
}

}  // namespace
}  // namespace unhang::simulate
