// SPDX-License-Identifier: Apache-2.0
#include "simulate/fault.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "simulate/test_job.h"

namespace unhang::simulate {
namespace {

Plan plan_of(FaultKind fault, std::uint64_t seed = 1) {
  Plan plan;
  plan.ranks = 16;
  plan.tp = 2;
  plan.pp = 2;
  plan.fault = fault;
  plan.seed = seed;
  return plan;
}

bool unfinished(const RecordedDump& dump, std::size_t i) {
  const RecordedEntry& entry = dump.entries[i];
  if (entry.retired) return false;
  // Inside a block: its closing entry tells.
  for (std::size_t j = i; j < dump.entries.size() && j <= i + 2; ++j) {
    if (name_of(dump, dump.entries[j]).ends_with("coalesced") && dump.entries[j].group == entry.group) {
      return !dump.entries[j].retired;
    }
  }
  return true;
}

// The oldest unfinished entry of each group, by the group's name.
std::map<std::string, RecordedEntry> pending(const RecordedDump& dump) {
  std::map<std::string, RecordedEntry> out;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    if (unfinished(dump, i)) out.try_emplace(dump.groups[dump.entries[i].group].name, dump.entries[i]);
  }
  return out;
}

TEST(Fault, NamesAreUniqueAndReadBack) {
  for (const FaultInfo& info : fault_catalogue()) {
    EXPECT_EQ(parse_fault(info.name), info.kind);
    EXPECT_FALSE(info.description.empty());
  }
  EXPECT_EQ(parse_fault("no_such_fault"), std::nullopt);
}

TEST(Fault, ThoseWhoDoNotEnterHaveNothingPendingAndAllOthersDo) {
  for (const FaultKind fault :
       {FaultKind::kRankNotEntered, FaultKind::kRank0NotEntered, FaultKind::kSeveralNotEntered,
        FaultKind::kSubgroupNotEntered, FaultKind::kNeverJoined}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const TestJob made = run_job(plan_of(fault, seed));
      ASSERT_FALSE(made.truth.culprits.empty());
      EXPECT_TRUE(made.truth.culprits_exact);
      EXPECT_EQ(made.truth.culprits, made.truth.injected);
      for (std::int32_t rank = 0; rank < 16; ++rank) {
        const bool at_fault = std::count(made.truth.culprits.begin(), made.truth.culprits.end(), rank) != 0;
        EXPECT_EQ(pending(made.dump(rank)).empty(), at_fault) << made.truth.description << " rank " << rank;
      }
    }
  }
  EXPECT_EQ(run_job(plan_of(FaultKind::kRank0NotEntered)).truth.culprits, std::vector<std::int32_t>{0});
}

TEST(Fault, NeverJoinedLeavesADumpWithoutEntries) {
  const TestJob made = run_job(plan_of(FaultKind::kNeverJoined));
  EXPECT_TRUE(made.dump(made.truth.culprits[0]).entries.empty());
  EXPECT_EQ(made.dump(made.truth.culprits[0] == 0 ? 1 : 0).entries.size(), 1U);
}

TEST(Fault, AMismatchIsOneFieldOfOneRank) {
  for (const FaultKind fault :
       {FaultKind::kOpMismatch, FaultKind::kSizeMismatch, FaultKind::kDtypeMismatch}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const TestJob made = run_job(plan_of(fault, seed));
      const std::int32_t culprit = made.truth.culprits.at(0);
      std::optional<RecordedCall> common;
      std::optional<RecordedCall> other;
      std::int64_t sequence = -1;
      for (std::int32_t rank = 0; rank < 16; ++rank) {
        const RecordedDump dump = made.dump(rank);
        const auto stuck = pending(dump);
        if (!stuck.contains(made.truth.group)) continue;
        const RecordedEntry& entry = stuck.at(made.truth.group);
        if (sequence < 0) sequence = entry.collective_sequence;
        EXPECT_EQ(entry.collective_sequence, sequence);
        const RecordedCall& call = call_of(dump, entry);
        if (rank == culprit) {
          other = call;
          continue;
        }
        if (!common) common = call;
        EXPECT_EQ(call.profiling_name, common->profiling_name);
        EXPECT_EQ(call.input_sizes, common->input_sizes);
      }
      ASSERT_TRUE(common && other) << made.truth.description;
      const bool op = fault == FaultKind::kOpMismatch;
      EXPECT_EQ(other->profiling_name != common->profiling_name, op);
      EXPECT_EQ(other->input_sizes != common->input_sizes, fault == FaultKind::kSizeMismatch);
      EXPECT_EQ(other->input_dtypes != common->input_dtypes, fault == FaultKind::kDtypeMismatch);
    }
  }
}

// The names and shapes of what a rank has pending in a group.
std::vector<std::string> tail_of(const RecordedDump& dump, const std::string& group) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    if (dump.groups[dump.entries[i].group].name != group || !unfinished(dump, i)) continue;
    const RecordedCall& call = call_of(dump, dump.entries[i]);
    out.push_back(call.profiling_name +
                  (call.input_sizes.empty() ? "" : " " + std::to_string(call.input_sizes[0][0])));
  }
  return out;
}

TEST(Fault, ASkippedOrExtraCallShiftsTheTailByOne) {
  for (const FaultKind fault : {FaultKind::kSkippedCollective, FaultKind::kExtraCollective}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const TestJob made = run_job(plan_of(fault, seed));
      const std::int32_t culprit = made.truth.culprits.at(0);
      const auto mine = tail_of(made.dump(culprit), made.truth.group);
      int compared = 0;
      for (std::int32_t rank = 0; rank < 16; ++rank) {
        if (rank == culprit) continue;
        const auto theirs = tail_of(made.dump(rank), made.truth.group);
        if (theirs.empty()) continue;  // not of this group
        const auto& longer = fault == FaultKind::kSkippedCollective ? theirs : mine;
        const auto& shorter = fault == FaultKind::kSkippedCollective ? mine : theirs;
        ASSERT_GE(longer.size(), 2U);
        ASSERT_FALSE(shorter.empty());
        const std::size_t common = std::min(longer.size() - 1, shorter.size());
        EXPECT_TRUE(std::equal(shorter.begin(), shorter.begin() + static_cast<std::ptrdiff_t>(common),
                               longer.begin() + 1));
        EXPECT_NE(longer[0], shorter[0]);
        ++compared;
      }
      EXPECT_GE(compared, 2) << "a majority against the culprit";
    }
  }
}

TEST(Fault, AnInversionIsACycleBetweenTwoGroups) {
  for (const FaultKind fault : {FaultKind::kOrderInversion, FaultKind::kOrderInversionAsync}) {
    const TestJob made = run_job(plan_of(fault));
    const std::int32_t culprit = made.truth.culprits.at(0);
    const std::string dp = std::to_string(made.job.layout().group_of(culprit, Slot::kData));
    for (const std::int32_t member : made.job.layout().members(culprit, Slot::kData)) {
      const auto stuck = pending(made.dump(member));
      const bool blocks = fault == FaultKind::kOrderInversion;
      const bool reversed = member == culprit;
      EXPECT_EQ(stuck.contains("0"), reversed || !blocks);
      EXPECT_EQ(stuck.contains(dp), !reversed || !blocks);
      if (!blocks) {
        EXPECT_EQ(stuck.at("0").record_id < stuck.at(dp).record_id, reversed);
      }
    }
  }
}

TEST(Fault, ADeadlockedPairSendsToEachOther) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TestJob made = run_job(plan_of(FaultKind::kP2pDeadlock, seed));
    ASSERT_EQ(made.truth.culprits.size(), 2U);
    for (const std::int32_t rank : made.truth.culprits) {
      const RecordedDump dump = made.dump(rank);
      ASSERT_EQ(pending(dump).size(), 1U);
      EXPECT_TRUE(name_of(dump, pending(dump).begin()->second).starts_with("nccl:send"));
      EXPECT_EQ(pending(dump).begin()->second.record_id, dump.entries.back().record_id);
    }
  }
}

TEST(Fault, AnUnmatchedSendIsTheLastOfItsRank) {
  const TestJob made = run_job(plan_of(FaultKind::kP2pUnmatched));
  const std::int32_t sender = made.truth.injected.at(0);
  const RecordedDump dump = made.dump(sender);
  ASSERT_EQ(tail_of(dump, made.truth.group).size(), 1U);
  EXPECT_TRUE(name_of(dump, dump.entries.back()).starts_with("nccl:send"));
  for (const std::int32_t rank : made.truth.culprits) {
    if (rank == sender) continue;
    EXPECT_TRUE(tail_of(made.dump(rank), made.truth.group).empty());
  }
}

TEST(Fault, AStoppedDeviceLagsItsPeersByMoreThanAWatchdogCould) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TestJob made = run_job(plan_of(FaultKind::kGpuNotProgressing, seed));
    const std::int32_t culprit = made.truth.culprits.at(0);
    const RecordedDump mine = made.dump(culprit);
    std::int64_t furthest = 0;
    for (std::int32_t rank = 0; rank < 16; ++rank) {
      const RecordedDump dump = made.dump(rank);
      for (const RecordedGroup& group : dump.groups) {
        if (group.name != made.truth.group) continue;
        furthest = std::max(furthest, dump.status[static_cast<std::size_t>(group.pg_id)].last_completed);
      }
    }
    const auto stuck = pending(mine);
    ASSERT_TRUE(stuck.contains(made.truth.group)) << made.truth.description;
    EXPECT_GE(furthest - stuck.at(made.truth.group).collective_sequence, 3) << made.truth.description;
  }
}

TEST(Fault, AStragglerCallsLateInEveryStepAndEverythingEnds) {
  const TestJob made = run_job(plan_of(FaultKind::kStraggler));
  const std::int32_t culprit = made.truth.injected.at(0);
  const auto calls = [&](std::int32_t rank) {
    std::vector<std::int64_t> out;
    const RecordedDump dump = made.dump(rank);
    EXPECT_TRUE(pending(dump).empty());
    for (const RecordedEntry& entry : dump.entries) {
      if (name_of(dump, entry) == "nccl:all_to_all") out.push_back(entry.created_ns);
    }
    return out;
  };
  const auto late = calls(culprit);
  ASSERT_EQ(late.size(), 3U);
  for (const std::int32_t peer : made.job.layout().members(culprit, Slot::kData)) {
    if (peer == culprit) continue;
    const auto usual = calls(peer);
    for (std::size_t step = 0; step < 3; ++step) EXPECT_GT(late[step] - usual[step], 100000000);
  }
}

TEST(Fault, AStaleWatchdogLagsByOneOrTwo) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TestJob made = run_job(plan_of(FaultKind::kStaleWatchdog, seed));
    EXPECT_TRUE(made.truth.culprits.empty());
    for (std::int32_t rank = 0; rank < 16; ++rank) {
      const std::size_t count = pending(made.dump(rank)).size();
      EXPECT_EQ(count > 0, rank == made.truth.injected.at(0));
      EXPECT_LE(count, 2U);
    }
  }
}

TEST(Fault, WhereTwoCannotSayWhoIsWrongBothAreNamed) {
  Plan plan;
  plan.ranks = 2;
  plan.fault = FaultKind::kSizeMismatch;
  const TestJob made = run_job(plan);
  EXPECT_FALSE(made.truth.culprits_exact);
  EXPECT_EQ(made.truth.culprits, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(made.truth.injected.size(), 1U);
  for (const FaultKind shifted : {FaultKind::kSkippedCollective, FaultKind::kExtraCollective}) {
    plan.fault = shifted;
    const std::vector<std::string> causes = run_job(plan).truth.acceptable.at(0).causes;
    EXPECT_EQ(std::count(causes.begin(), causes.end(), "op_mismatch"), 1) << "two cannot tell a shift either";
  }
}

}  // namespace
}  // namespace unhang::simulate
