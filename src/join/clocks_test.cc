// SPDX-License-Identifier: Apache-2.0
#include "join/clocks.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "join/host_offsets.h"

namespace unhang::join {
namespace {

using model::Operation;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'700'000'000'000 * kMs;

// `hosts[i]` is where rank i runs; all are in one group.
model::Case job(const std::vector<std::string>& hosts) {
  model::Case out;
  model::Group& group = out.groups.emplace_back();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    model::Rank& rank = out.ranks.emplace_back();
    rank.global_rank = static_cast<std::int32_t>(i);
    rank.host = hosts[i];
    rank.input = static_cast<model::InputIndex>(i);
    rank.lanes.emplace_back().group = 0;
    group.members.push_back(static_cast<model::RankIndex>(i));
  }
  return out;
}

void ends(model::Case& c, model::RankIndex rank, std::int64_t sequence, std::int64_t ns,
          model::OpKind kind = model::OpKind::kAllReduce) {
  Operation op;
  op.collective_sequence = sequence;
  op.completed_ns = ns;
  op.flags = Operation::kFinished;
  model::Signature signature;
  signature.kind = kind;
  op.signature = c.vocabulary.intern(signature);
  c.ranks[rank].lanes[0].collectives.push_back(static_cast<std::uint32_t>(c.ranks[rank].operations.size()));
  c.ranks[rank].operations.push_back(op);
}

std::string told(const model::Case& c) {
  std::string out;
  for (const model::HostClock& clock : c.clocks) {
    out +=
        clock.host +
        (clock.known ? " " + std::to_string(clock.offset_ns / kMs) + "±" +
                           std::to_string(clock.spread_ns / kMs) + " ms of " + std::to_string(clock.samples)
                     : " unknown") +
        "; ";
  }
  return out;
}

TEST(Clocks, TheMedianOfDifferencesIsTheOffset) {
  model::Case c = job({"a", "a", "b", "b"});
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t end = kStart + i * 700 * kMs;
    // Each watchdog is late by something else below its polling.
    for (model::RankIndex rank = 0; rank < 4; ++rank)
      ends(c, rank, i, end + (i * 37 + rank * 11) % 100 * kMs + (rank >= 2 ? 5'000 * kMs : 0));
  }
  estimate_clocks(c);
  ASSERT_EQ(c.clocks.size(), 2u);
  EXPECT_EQ(c.clocks[0].offset_ns, 0);
  EXPECT_NEAR(static_cast<double>(c.clocks[1].offset_ns / kMs), 5'000, 50);
  EXPECT_EQ(c.clocks[1].spread_ns, 100 * kMs) << "less than the polling is not to be had";
  EXPECT_EQ(c.clocks[1].samples, 40u);
  EXPECT_EQ(c.clocks[0].basis, "the reference");
  EXPECT_EQ(c.clocks[1].basis,
            "40 collectives that complete together with a; each end is seen late by up to 100 ms");
}

TEST(Clocks, AWideSpreadIsShown) {
  model::Case c = job({"a", "b"});
  for (std::int64_t i = 0; i < 41; ++i) {
    ends(c, 0, i, kStart + i * 10'000 * kMs);
    ends(c, 1, i, kStart + i * 10'000 * kMs + i * 100 * kMs);  // it drifts
  }
  estimate_clocks(c);
  EXPECT_EQ(told(c), "a 0±0 ms of 41; b 2000±1000 ms of 41; ");
}

TEST(Clocks, WhatDoesNotWaitForEverybodyTellsNothing) {
  model::Case c = job({"a", "b"});
  ends(c, 0, 1, kStart, model::OpKind::kBroadcast);
  ends(c, 1, 1, kStart + 9'000 * kMs, model::OpKind::kBroadcast);
  ends(c, 0, 2, kStart);  // the other one did not finish it
  estimate_clocks(c);
  EXPECT_EQ(told(c), "");
}

TEST(Clocks, OneHostHasNothingToCompare) {
  model::Case c = job({"a", "a", "", ""});
  for (model::RankIndex rank = 0; rank < 4; ++rank) ends(c, rank, 1, kStart);
  estimate_clocks(c);
  EXPECT_EQ(told(c), "");
}

TEST(Clocks, NamesOfOneMachineAreOneHost) {
  model::Case c = job({"a", "10.0.0.1", "b"});
  c.hosts.push_back({"a", {"10.0.0.1", "a.example"}, {}});
  for (model::RankIndex rank = 0; rank < 3; ++rank) ends(c, rank, 1, kStart + rank * 1'000 * kMs);
  estimate_clocks(c);
  EXPECT_EQ(told(c), "a 0±0 ms of 1; b 2000±100 ms of 1; ");
}

TEST(Clocks, HostsWithoutACommonGroupAreJoinedThroughOthers) {
  model::Case c = job({"a", "b", "c", "d"});
  // Groups {a, b} and {b, c}; d is alone.
  c.groups[0].members = {0, 1};
  c.groups.emplace_back().members = {1, 2};
  c.ranks[2].lanes[0].group = 1;
  model::Lane& second = c.ranks[1].lanes.emplace_back();
  second.group = 1;
  ends(c, 0, 1, kStart);
  ends(c, 1, 1, kStart + 1'000 * kMs);
  ends(c, 2, 1, kStart + 3'000 * kMs);
  second.collectives = {0};
  estimate_clocks(c);
  EXPECT_EQ(told(c), "a -1000±100 ms of 1; b 0±0 ms of 2; c 2000±100 ms of 1; d unknown; ");
}

TEST(Clocks, LinesOfOneCommunicatorTellItWhereDumpsDoNot) {
  model::Case c;
  for (const auto& [host, seconds] : {std::pair{"a", 0}, std::pair{"b", 12}, std::pair{"c", 7'200}}) {
    c.logs.origins.emplace_back().host = host;
    model::LogCommunicator made;
    made.origin = static_cast<std::uint32_t>(c.logs.origins.size() - 1);
    made.id = 0xabc;
    made.completed = true;
    made.completed_at = {model::LogClock::kLocal, kStart + seconds * 1'000 * kMs};
    c.logs.communicators.push_back(made);
  }
  estimate_clocks(c);
  EXPECT_EQ(told(c), "a 0±0 ms of 1; b 12000±1000 ms of 1; ") << "two hours are a zone, not a clock";
}

TEST(Clocks, NumbersThatNoClockShowsAreNoDifferences) {
  HostOffsets offsets;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  offsets.add(ClockWitness::kCollective, "a", "b", {{-kMost, kMost}, {kMost, -kMost}});
  EXPECT_TRUE(offsets.estimate().empty());
  // z makes a the reference; c is so far ahead of b that 64 bits cannot hold what it is ahead of a.
  offsets.add(ClockWitness::kCollective, "a", "z", {{0, 0}, {0, 0}, {0, 0}});
  offsets.add(ClockWitness::kCollective, "a", "b", {{0, kMost}});
  offsets.add(ClockWitness::kCollective, "b", "c", {{0, kMost}});
  const auto clocks = offsets.estimate();
  ASSERT_EQ(clocks.size(), 4u);
  EXPECT_EQ(clocks[1].offset_ns, kMost);
  EXPECT_TRUE(clocks[1].known);
  EXPECT_FALSE(clocks[2].known);
}

}  // namespace
}  // namespace unhang::join
