// SPDX-License-Identifier: Apache-2.0
#include "simulate/recording.h"

#include <algorithm>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "simulate/test_job.h"

namespace unhang::simulate {
namespace {

Plan plan_8() {
  Plan plan;
  plan.ranks = 8;
  plan.tp = 2;
  plan.pp = 2;
  return plan;
}

const RecordedStatus& status_of(const RecordedDump& dump, std::string_view description) {
  for (const RecordedGroup& group : dump.groups) {
    if (group.description != description) continue;
    for (const RecordedStatus& status : dump.status) {
      if (status.pg_id == group.pg_id) return status;
    }
  }
  ADD_FAILURE() << "no status of " << description;
  return dump.status.front();
}

TEST(Recording, CountsByTheRulesOfTheRecorder) {
  const TestJob made = run_job(plan_8());
  for (const RecordedDump& dump : made.dumps()) {
    std::map<std::uint32_t, RecordedEntry> last;  // by group
    std::int64_t next_record = 0;
    for (const RecordedEntry& entry : dump.entries) {
      EXPECT_EQ(entry.record_id, next_record++);
      const bool p2p = call_of(dump, entry).is_p2p;
      const bool closing = name_of(dump, entry).ends_with("coalesced");
      const RecordedEntry before = last.contains(entry.group) ? last[entry.group] : RecordedEntry{};
      if (closing) {  // belongs to the launch of the entries before it
        EXPECT_EQ(entry.collective_sequence, before.collective_sequence);
        EXPECT_EQ(entry.p2p_sequence, before.p2p_sequence);
        EXPECT_EQ(entry.op_id, before.op_id);
      } else {
        EXPECT_EQ(entry.op_id, before.op_id + 1);
        const std::int64_t launches =
            entry.collective_sequence + entry.p2p_sequence - before.collective_sequence - before.p2p_sequence;
        EXPECT_GE(launches, 0);
        EXPECT_LE(launches, 1);
        if (launches == 1) {
          EXPECT_EQ(p2p ? entry.p2p_sequence - before.p2p_sequence
                        : entry.collective_sequence - before.collective_sequence,
                    1);
        }
      }
      last[entry.group] = entry;
    }
    for (const auto& [group, entry] : last) {
      const RecordedStatus& status = dump.status[group];
      const std::int64_t number =
          dump.groups[group].description == "pp" ? entry.p2p_sequence : entry.collective_sequence;
      EXPECT_EQ(status.last_enqueued, number);
      EXPECT_EQ(status.last_completed, number);
      EXPECT_EQ(status.last_started, -1);
    }
  }
}

TEST(Recording, EntriesInsideABlockStayScheduledAndTheClosingOneTells) {
  const TestJob made = run_job(plan_8());
  const RecordedDump dump = made.dump(0);
  int batches = 0;
  int blocks = 0;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    const RecordedEntry& entry = dump.entries[i];
    if (!name_of(dump, entry).ends_with("coalesced")) continue;
    EXPECT_EQ(entry.state, RecordedState::kCompleted);
    EXPECT_TRUE(entry.retired);
    EXPECT_TRUE(call_of(dump, entry).input_sizes.empty());
    for (const std::size_t inner : {i - 2, i - 1}) {
      EXPECT_EQ(dump.entries[inner].state, RecordedState::kScheduled);
      EXPECT_FALSE(dump.entries[inner].retired);
      EXPECT_EQ(dump.entries[inner].p2p_sequence, entry.p2p_sequence);
      EXPECT_EQ(dump.entries[inner].collective_sequence, entry.collective_sequence);
    }
    if (name_of(dump, entry) == "nccl:coalesced") {
      ++batches;
      EXPECT_EQ(name_of(dump, dump.entries[i - 2]), "nccl:send 0->1");
      EXPECT_EQ(name_of(dump, dump.entries[i - 1]), "nccl:recv 0<-1");
    } else {
      ++blocks;
      EXPECT_EQ(name_of(dump, entry), "nccl:ALLGATHER_coalesced");
      EXPECT_EQ(name_of(dump, dump.entries[i - 1]), "nccl:_all_gather_base");
    }
  }
  EXPECT_EQ(batches, 2 * 3);
  EXPECT_EQ(blocks, 3);
}

TEST(Recording, SendsAndReceivesOfAnEdgePairUp) {
  Plan plan = plan_8();
  plan.ranks = 16;
  plan.pp = 4;
  const TestJob made = run_job(plan);
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<int, int>> edges;  // sends, receives
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
    const RecordedDump dump = made.dump(rank);
    const std::int32_t step = plan.ranks / plan.pp;
    for (const RecordedEntry& entry : dump.entries) {
      const std::string& name = name_of(dump, entry);
      const int self = rank / step;
      if (name == "nccl:send " + std::to_string(self) + "->" + std::to_string(self + 1))
        ++edges[{rank, rank + step}].first;
      if (name == "nccl:send " + std::to_string(self) + "->" + std::to_string(self - 1))
        ++edges[{rank, rank - step}].first;
      if (name == "nccl:recv " + std::to_string(self) + "<-" + std::to_string(self + 1))
        ++edges[{rank + step, rank}].second;
      if (name == "nccl:recv " + std::to_string(self) + "<-" + std::to_string(self - 1))
        ++edges[{rank - step, rank}].second;
    }
  }
  EXPECT_EQ(edges.size(), 2U * 12U);
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count.first, count.second) << edge.first << "->" << edge.second;
    EXPECT_EQ(count.first, 3 * 5);  // steps x micro-batches
  }
}

TEST(Recording, TheRingKeepsTheNewestAndCountsOn) {
  Plan plan = plan_8();
  plan.entries = 40;
  const TestJob small = run_job(plan);
  plan.entries = 2000;
  const RecordedDump whole = record(small.job, plan, 3);
  const RecordedDump kept = small.dump(3);
  ASSERT_EQ(kept.entries.size(), 40U);
  const std::size_t skipped = whole.entries.size() - 40;
  for (std::size_t i = 0; i < 40; ++i) {
    const RecordedEntry& expected = whole.entries[skipped + i];
    EXPECT_EQ(kept.entries[i].record_id, expected.record_id);
    EXPECT_EQ(kept.entries[i].collective_sequence, expected.collective_sequence);
    EXPECT_EQ(kept.entries[i].created_ns, expected.created_ns);
    EXPECT_EQ(name_of(kept, kept.entries[i]), name_of(whole, expected));
  }
}

TEST(Recording, OnlyActiveLeavesTheFinishedOutButNotTheStatus) {
  Plan plan = plan_8();
  plan.fault = FaultKind::kRankNotEntered;
  plan.culprit = 5;
  plan.only_active = true;
  const TestJob made = run_job(plan);
  const RecordedDump culprit = made.dump(5);
  for (const RecordedDump& dump : made.dumps()) {
    for (const RecordedEntry& entry : dump.entries) EXPECT_NE(entry.state, RecordedState::kCompleted);
  }
  for (const RecordedEntry& entry : culprit.entries) {
    // What remains are entries inside finished blocks: they have no state of their own.
    EXPECT_TRUE(call_of(culprit, entry).is_p2p || name_of(culprit, entry) == "nccl:_all_gather_base");
  }
  EXPECT_GT(status_of(made.dump(0), "default_pg").last_enqueued,
            status_of(culprit, "default_pg").last_enqueued);
}

TEST(Recording, AllToAllIsUnevenAndItsSumsMatchUnlessSplitsDoNot) {
  for (const FaultKind fault : {FaultKind::kNone, FaultKind::kSplitMismatch}) {
    Plan plan = plan_8();
    plan.fault = fault;
    const TestJob made = run_job(plan);
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> surplus;
    bool uneven = false;
    for (const RecordedDump& dump : made.dumps()) {
      for (const RecordedEntry& entry : dump.entries) {
        if (name_of(dump, entry) != "nccl:all_to_all") continue;
        const std::int64_t in = call_of(dump, entry).input_sizes.at(0).at(0);
        const std::int64_t out = call_of(dump, entry).output_sizes.at(0).at(0);
        uneven = uneven || in != out;
        surplus[{dump.groups[entry.group].name, entry.collective_sequence}] += in - out;
      }
    }
    EXPECT_TRUE(uneven);
    EXPECT_EQ(surplus.size(), 4U * 3U);
    const auto wrong =
        std::count_if(surplus.begin(), surplus.end(), [](const auto& sum) { return sum.second != 0; });
    EXPECT_EQ(wrong, fault == FaultKind::kNone ? 0 : 1);
  }
}

TEST(Recording, GlooTellsItsOwnWay) {
  Plan plan = plan_8();
  plan.backend = "gloo";
  plan.fault = FaultKind::kRankNotEntered;
  plan.culprit = 6;
  const TestJob made = run_job(plan);
  const RecordedDump dump = made.dump(0);
  ASSERT_EQ(dump.config.size(), 1U);
  EXPECT_EQ(dump.config[0].name, "");
  EXPECT_EQ(dump.config[0].ranks, (std::vector<std::int32_t>{0, 2}));  // of the last group made
  EXPECT_EQ(dump.comm_lib_version, "");
  EXPECT_EQ(dump.status.size(), 3U);  // no line for the pipeline: gloo records no transfers
  bool pending = false;
  for (const RecordedEntry& entry : dump.entries) {
    EXPECT_TRUE(name_of(dump, entry).starts_with("gloo:"));
    EXPECT_FALSE(call_of(dump, entry).is_p2p);
    EXPECT_EQ(entry.state, RecordedState::kScheduled);
    EXPECT_EQ(entry.completed_ns, 0);
    EXPECT_EQ(entry.timeout_ms, 1800000);
    pending = pending || !entry.retired;
  }
  EXPECT_TRUE(pending);
  const RecordedCall& barrier = call_of(dump, dump.entries[0]);
  EXPECT_EQ(barrier.profiling_name, "gloo:barrier");
  EXPECT_TRUE(barrier.input_sizes.empty());
}

TEST(Recording, TimingTellsWhoseKernelRuns) {
  Plan plan;
  plan.ranks = 4;
  plan.timing = true;
  plan.fault = FaultKind::kRankNotEntered;
  plan.culprit = 1;
  const TestJob made = run_job(plan);
  const RecordedDump dump = made.dump(0);
  int started = 0;
  for (const RecordedEntry& entry : dump.entries) {
    if (name_of(dump, entry).ends_with("coalesced") || entry.state == RecordedState::kScheduled) continue;
    EXPECT_GT(entry.started_ns, entry.created_ns);
    if (entry.state == RecordedState::kStarted) {
      ++started;
      EXPECT_EQ(entry.duration_ms, RecordedEntry::kNoDuration);
    } else {
      EXPECT_GT(entry.duration_ms, 0);
      EXPECT_GE(entry.completed_ns, entry.started_ns);
    }
  }
  EXPECT_EQ(started, 1);  // the oldest pending one; what comes after has not been reached
}

TEST(Recording, StacksAreSharedAndAsDeepAsAsked) {
  Plan plan = plan_8();
  for (const std::int32_t frames : {0, 1, 4, 12}) {
    plan.frames = frames;
    const RecordedDump dump = run_job(plan).dump(0);
    for (const RecordedEntry& entry : dump.entries) {
      if (frames == 0) {
        EXPECT_EQ(entry.stack, RecordedEntry::kNoStack);
      } else {
        EXPECT_EQ(dump.stacks.at(static_cast<std::size_t>(entry.stack)).size(),
                  static_cast<std::size_t>(frames));
      }
    }
    EXPECT_LT(dump.stacks.size(), kSiteCount);
  }
}

}  // namespace
}  // namespace unhang::simulate
