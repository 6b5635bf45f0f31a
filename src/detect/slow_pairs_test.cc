// SPDX-License-Identifier: Apache-2.0
//
// The delay matrix: a cell is a link, a row a sender, a column a receiver.
#include "detect/slow_pairs.h"

#include <functional>

#include <gtest/gtest.h>

#include "detect/timed_job_for_tests.h"

namespace unhang::detect {
namespace {

// Every rank of six sends to every other, `rounds` times; `factor` of the time from source to destination.
// Two ranks on a host; between hosts everything takes ten times as long.
CaseBuilder all_pairs(const std::function<double(int, int)>& factor, std::uint64_t seed = 1, int rounds = 8,
                      bool hosts = true) {
  CaseBuilder c(6);
  const auto group = c.group("1", "pp", {0, 1, 2, 3, 4, 5});
  if (hosts) {
    for (model::RankIndex rank = 0; rank < 6; ++rank) c.host(rank, "node" + std::to_string(rank / 2));
  }
  TestNoise noise(seed);
  for (int round = 0; round < rounds; ++round) {
    for (int source = 0; source < 6; ++source) {
      for (int destination = 0; destination < 6; ++destination) {
        if (source == destination) continue;
        const double path = source / 2 == destination / 2 ? 0.4 : 4;
        const double took = path * factor(source, destination) * std::exp(0.04 * noise.normal());
        CallOptions sent = elements(4096);
        CallOptions received = sent;
        sent.duration_ms = static_cast<float>(took);
        received.duration_ms = static_cast<float>(took + 20 * noise.uniform());  // it was there before
        c.send(group, static_cast<model::RankIndex>(source), destination, true, sent);
        c.receive(group, static_cast<model::RankIndex>(destination), source, true, received);
      }
    }
  }
  return c;
}

std::string found_in(CaseBuilder c) {
  const auto& joined = c.joined();
  const auto analysis = analyse(joined);
  std::string out;
  for (const auto& found : judge_pairs(analysis, measure_pairs(analysis))) {
    out += (out.empty() ? "" : "; ") + std::string(model::name_of(found.kind));
    for (const auto rank : found.culprits) out += ' ' + std::to_string(rank);
    if (!found.slow) out += " (weak)";
  }
  return out.empty() ? "nothing" : out;
}

TEST(SlowPairs, OneCellIsALink) {
  EXPECT_EQ(found_in(all_pairs([](int s, int d) { return s == 1 && d == 4 ? 2.0 : 1.0; })), "slow_pair 1 4");
}

TEST(SlowPairs, ARowIsItsSender) {
  EXPECT_EQ(found_in(all_pairs([](int s, int) { return s == 2 ? 2.0 : 1.0; })), "slow_sender 2");
}

TEST(SlowPairs, AColumnIsItsReceiver) {
  EXPECT_EQ(found_in(all_pairs([](int, int d) { return d == 5 ? 3.0 : 1.0; })), "slow_receiver 5");
}

TEST(SlowPairs, RowAndColumnAreOneRank) {
  CaseBuilder c = all_pairs([](int s, int d) { return s == 3 || d == 3 ? 2.0 : 1.0; });
  const auto& joined = c.joined();
  const auto analysis = analyse(joined);
  const auto found = judge_pairs(analysis, measure_pairs(analysis));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].culprits, (std::vector<model::RankIndex>{3}));
  EXPECT_NE(found[0].text.find("to and from rank 3"), std::string::npos) << found[0].text;
}

TEST(SlowPairs, NoiseAndTheWayBetweenHostsAreNone) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    EXPECT_EQ(found_in(all_pairs([](int, int) { return 1.0; }, seed)), "nothing") << seed;
}

TEST(SlowPairs, ATenthIsTooLittle) {
  EXPECT_EQ(found_in(all_pairs([](int s, int d) { return s == 1 && d == 4 ? 1.1 : 1.0; })), "nothing");
}

TEST(SlowPairs, WithoutHostsNothingIsSure) {
  CaseBuilder c = all_pairs([](int s, int d) { return s / 2 == d / 2     ? 10.0
                                                      : s == 1 && d == 4 ? 5.0
                                                                         : 1.0; },
                            1, 8, false);
  EXPECT_EQ(found_in(std::move(c)), "slow_pair 1 4 (weak)");
}

TEST(SlowPairs, FourTransfersAreTooFew) {
  EXPECT_EQ(found_in(all_pairs([](int s, int d) { return s == 1 && d == 4 ? 9.0 : 1.0; }, 1, 4)), "nothing");
}

TEST(SlowTransfer, APairIsTheCulprit) {
  CaseBuilder c = all_pairs([](int s, int d) { return s == 1 && d == 4 ? 2.0 : 1.0; });
  const auto found = c.run(find_slow_transfer);
  EXPECT_EQ(summary(found), "performance_degradation/slow_link medium 1,4");
  EXPECT_TRUE(found.at(0).is_pair);
}

TEST(SlowTransfer, NotOfAJobThatStands) {
  CaseBuilder c = all_pairs([](int s, int d) { return s == 1 && d == 4 ? 2.0 : 1.0; });
  c.send(0, 2, 3);
  EXPECT_EQ(summary(c.run(find_slow_transfer)), "nothing");
}

TEST(SlowTransfer, WhatWasSlowForAWhileIsNoCause) {
  CaseBuilder c = TimedJob{
      .steps = 120, .transfer_ms = 6, .transfer = [](int step) {
        return step >= 40 && step < 70 ? 2.0 : 1.0;
      }}.build();
  EXPECT_EQ(summary(c.run(find_slow_transfer)), "performance_degradation/slow_link medium (no stall)");
}

}  // namespace
}  // namespace unhang::detect
