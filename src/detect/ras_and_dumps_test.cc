// SPDX-License-Identifier: Apache-2.0
//
// RAS and dumps of one job together: each says what the other cannot.
#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/ras_view_for_tests.h"
#include "detect/resolve.h"

namespace unhang::detect {
namespace {

using Ranks = std::vector<model::RankIndex>;
using model::RasPresence;

// Four ranks; all but 2 wait in an all_reduce.
CaseBuilder stalled() {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  c.done(world, "all_reduce").open(world, "all_reduce", {0, 1, 3});
  return c;
}

model::Case with_ras(model::Case joined, model::RasCommunicator world) {
  for (auto& rank : world.ranks) rank.global_rank = rank.rank;
  joined.inputs.push_back({"ras.json", "nccl_ras_json", {}});
  joined.ras.world_hash = world.hash;
  model::RasView view = fixture::view({std::move(world)});
  view.sources = {static_cast<std::uint32_t>(joined.inputs.size() - 1)};
  joined.ras.views = {std::move(view)};
  return joined;
}

std::string says(const model::Verdict& verdict) {
  std::string out = std::string(model::name_of(verdict.category)) + "/" + std::string(verdict.cause) + " " +
                    std::string(model::name_of(verdict.confidence));
  for (const auto& culprit : verdict.culprits) out += " " + std::to_string(culprit.rank.value_or(-1));
  return out;
}

TEST(RasAndDumps, NoDumpAndNoAnswerIsAProcessThatIsGone) {
  auto ras = fixture::communicator(0xa, 4, 2);
  fixture::lose(ras, 2, RasPresence::kUnresponsive);
  const auto verdict = diagnose(with_ras(stalled().silent(2).take(), ras));
  EXPECT_EQ(says(verdict), "process_or_device_unavailable/rank_silent high 2");
  EXPECT_EQ(verdict.where.operation, "all_reduce");  // the dumps say where the others wait
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.findings[0].id, "ras_lost_process-1");
}

TEST(RasAndDumps, NoDumpButAnAnswerIsBlockedOutsideNccl) {
  auto ras = fixture::communicator(0xa, 4, 2);
  fixture::set_count(ras, 2, model::RasCollective::kAllReduce, 1);
  const auto verdict = diagnose(with_ras(stalled().silent(2).take(), ras));
  EXPECT_EQ(says(verdict), "collective_desync/rank_not_entered medium 2");
  EXPECT_EQ(verdict.root, "host_blocked");
  EXPECT_EQ(verdict.findings.at(0).id, "ras_alive-1");
}

// It launched what the others launched: its dump was just not copied, and it stands where they stand.
TEST(RasAndDumps, WhoLaunchedAsMuchAsTheOthersEntered) {
  const auto verdict = diagnose(with_ras(stalled().silent(2).take(), fixture::communicator(0xa, 4, 2)));
  EXPECT_EQ(says(verdict), "transport_stall/unknown low");
}

// Counters that nobody moves (graph replays) show nothing.
TEST(RasAndDumps, CountsOfZeroTellNothing) {
  const auto verdict = diagnose(with_ras(stalled().silent(2).take(), fixture::communicator(0xa, 4, 0)));
  EXPECT_EQ(says(verdict), "collective_desync/rank_not_entered low 2");
}

TEST(RasAndDumps, WithoutRasTheSameRankIsOnlySilent) {
  EXPECT_EQ(says(diagnose(stalled().silent(2).take())), "process_or_device_unavailable/rank_silent low 2");
}

// The watchdog kills processes minutes after the stall: that is no cause.
TEST(RasAndDumps, ADeathAfterTheDumpIsNoCause) {
  auto ras = fixture::communicator(0xa, 4, 2);
  fixture::lose(ras, 3, RasPresence::kDead);
  EXPECT_EQ(says(diagnose(with_ras(stalled().take(), ras))), "collective_desync/rank_not_entered high 2");
}

// A smaller communicator, or another job: nothing places its lost rank, and everybody of this job dumped.
TEST(RasAndDumps, ALostRankThatNothingPlacesIsNoCauseWhereEverybodyDumped) {
  auto ras = fixture::communicator(0xb, 3, 2);
  fixture::lose(ras, 1, RasPresence::kUnresponsive);
  auto joined = with_ras(stalled().take(), ras);
  joined.ras.world_hash = 0;
  for (auto& rank : joined.ras.views[0].communicators[0].ranks) rank.global_rank = -1;
  EXPECT_EQ(says(diagnose(joined)), "collective_desync/rank_not_entered high 2");
}

TEST(RasAndDumps, TheLaggardOfRasIsASecondWitness) {
  auto ras = fixture::communicator(0xa, 4, 2);
  fixture::set_count(ras, 2, model::RasCollective::kAllReduce, 1);
  const auto verdict = diagnose(with_ras(stalled().take(), ras));
  EXPECT_EQ(says(verdict), "collective_desync/rank_not_entered high 2");
  EXPECT_NE(verdict.culprits.at(0).why.find("RAS: it launched 1 AllReduce"), std::string::npos);
}

// Dumps that decide are not overruled by one answer of counts.
TEST(RasAndDumps, OneAnswerDoesNotOverruleDumps) {
  auto ras = fixture::communicator(0xa, 4, 2);
  fixture::set_count(ras, 0, model::RasCollective::kAllReduce, 1);
  EXPECT_EQ(says(diagnose(with_ras(stalled().take(), ras))), "collective_desync/rank_not_entered high 2");
}

}  // namespace
}  // namespace unhang::detect
