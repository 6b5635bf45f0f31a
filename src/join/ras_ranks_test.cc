// SPDX-License-Identifier: Apache-2.0
#include "join/ras_ranks.h"

#include <gtest/gtest.h>

#include "join/join.h"
#include "model/ras_answers_for_tests.h"

namespace unhang::join {
namespace {

namespace fixture = model::fixture;
using fixture::answer;
using fixture::communicator;

constexpr std::int64_t kSecond = 1'000'000'000;

formats::Evidence file(const std::string& path, model::RasAnswer answer) {
  formats::Evidence out;
  out.path = path;
  out.kind = "nccl_ras_json";
  out.ras_answers.push_back(std::move(answer));
  return out;
}

// A dump of one rank of a job of `world` ranks.
formats::Evidence dump(int rank, int world, std::int64_t time_ns) {
  formats::Evidence out;
  out.path = "nccl_trace_rank_" + std::to_string(rank);
  out.kind = "flight_recorder_pickle";
  model::Dump& dump = out.dumps.emplace_back();
  auto& symbols = dump.vocabulary.symbols;
  std::string ranks = "[0";
  for (int r = 1; r < world; ++r) ranks += ", " + std::to_string(r);
  dump.declared_groups.push_back(
      {symbols.intern("0"), symbols.intern("default_pg"), symbols.intern(ranks + "]")});
  dump.groups.push_back({0, symbols.intern("0"), symbols.intern("default_pg"), symbols.intern("nccl")});
  dump.has_entries = true;
  model::Operation op;
  op.created_ns = time_ns;
  op.collective_sequence = 1;
  dump.operations.push_back(op);
  return out;
}

template <class... Files>
model::Case join(Files&&... files) {
  std::vector<formats::Evidence> batch;
  (batch.push_back(std::forward<Files>(files)), ...);
  CaseBuilder builder(1);
  builder.add(std::move(batch));
  return builder.finish({});
}

TEST(RasRanks, WithoutDumpsTheLargestCommunicatorIsTheJob) {
  const auto world = communicator(0xb, 8, 100);
  const auto joined = join(file("a", answer({fixture::sub_communicator(0xa, world, {6, 7}, 5), world})));
  ASSERT_EQ(joined.ranks.size(), 8u);
  EXPECT_TRUE(joined.ras.ranks_from_communicator);
  EXPECT_EQ(joined.ras.world_hash, 0xbu);
  EXPECT_EQ(joined.ranks[6].pid, 106);
  EXPECT_EQ(joined.ranks[6].host, "10.0.0.2");
  EXPECT_FALSE(joined.has_dumps);
  // Rank 1 of the pair is rank 7 of the job: the same process and GPU.
  ASSERT_EQ(joined.ras.views.size(), 1u);
  EXPECT_EQ(joined.ras.views[0].communicators[0].ranks[1].global_rank, 7);
  ASSERT_EQ(joined.coverage.size(), 1u);
  EXPECT_EQ(joined.coverage[0].source, "nccl_ras");
  EXPECT_EQ(joined.coverage[0].seen.size(), 8u);
}

TEST(RasRanks, AnotherJobIsSetAsideAndNamed) {
  const auto joined =
      join(file("a", answer({communicator(0xa, 2, 1, 500)})), file("b", answer({communicator(0xb, 8, 1)})));
  EXPECT_EQ(joined.ranks.size(), 8u);
  ASSERT_EQ(joined.set_aside.size(), 1u);
  EXPECT_EQ(joined.inputs[joined.set_aside[0].input].path, "a");
}

TEST(RasRanks, OfSeveralJobsTheOneOfTheDumpsIsTaken) {
  const auto joined =
      join(file("big", answer({communicator(0xb, 16, 1, 500)})),
           file("fitting", answer({communicator(0xa, 4, 1)})), dump(0, 4, kSecond), dump(1, 4, kSecond));
  EXPECT_TRUE(joined.has_dumps);
  EXPECT_EQ(joined.ranks.size(), 4u);
  EXPECT_EQ(joined.ras.world_hash, 0xau);
  ASSERT_EQ(joined.set_aside.size(), 1u);
  EXPECT_EQ(joined.inputs[joined.set_aside[0].input].path, "big");
  EXPECT_EQ(joined.coverage.size(), 2u);
}

TEST(RasRanks, AnAnswerOfAnotherWeekIsOfAnotherRun) {
  const std::int64_t dumped = 1'700'000'000 * kSecond;  // 2023-11-14
  const auto same =
      join(file("a", answer({communicator(0xa, 4, 1)}, "2023-11-15 08:00:00")), dump(0, 4, dumped));
  EXPECT_TRUE(same.set_aside.empty());
  EXPECT_EQ(same.ras.views.size(), 1u);
  const auto other =
      join(file("a", answer({communicator(0xa, 4, 1)}, "2023-11-25 08:00:00")), dump(0, 4, dumped));
  EXPECT_EQ(other.set_aside.size(), 1u);
  EXPECT_TRUE(other.ras.views.empty());
}

TEST(RasRanks, RanksOfSubGroupsOnlyStayUnknown) {
  const auto world = communicator(0xb, 8, 100);
  const auto joined =
      join(file("a", answer({fixture::sub_communicator(0xa, world, {0, 1}, 5)})), dump(0, 8, kSecond));
  ASSERT_EQ(joined.ras.views.size(), 1u);
  EXPECT_EQ(joined.ras.world_hash, 0u);
  EXPECT_EQ(joined.ras.views[0].communicators[0].ranks[0].global_rank, -1);
}

TEST(RasRanks, ABundleTellsTimesAndPids) {
  const auto world = communicator(0xb, 8, 100);
  formats::Evidence manifest;
  manifest.path = "bundle/manifest.json";
  manifest.kind = "bundle_manifest";
  model::BundleManifest& bundle = manifest.bundles.emplace_back();
  model::BundleSource& source = bundle.sources.emplace_back();
  source.kind = "ras";
  model::BundleFile first, second, dumped;
  first.path = "ras/a.json";
  first.captured_ns = 20 * kSecond;
  second.path = "ras/b.json";
  second.captured_ns = 5 * kSecond;
  dumped.path = "nccl_trace_rank_3";
  dumped.pid = 101;
  source.files = {first, second, dumped};
  formats::Evidence of_rank_3 = dump(3, 8, kSecond);
  of_rank_3.path = "bundle/nccl_trace_rank_3";
  // Only a sub-group is known to RAS; the pid of the dump says that its process 101 is rank 3.
  const auto pair = fixture::sub_communicator(0xa, world, {0, 1}, 5);
  const auto joined =
      join(std::move(manifest), std::move(of_rank_3), file("bundle/ras/a.json", answer({pair})),
           file("bundle/ras/b.json", answer({pair})));
  ASSERT_EQ(joined.ras.views.size(), 2u);
  EXPECT_EQ(joined.ras.views[0].time_ns, 5 * kSecond);
  EXPECT_FALSE(joined.ras.views[0].is_local_time);
  EXPECT_EQ(joined.ras.views[0].communicators[0].ranks[1].global_rank, 3);
  EXPECT_EQ(joined.ras.views[0].communicators[0].ranks[0].global_rank, -1);
}

TEST(RasRanks, AHugeClaimIsNotBelieved) {
  auto liar = communicator(0xa, 2, 1);
  liar.size = 2'000'000'000;
  const auto joined = join(file("a", answer({liar})));
  EXPECT_TRUE(joined.ranks.empty());
}

// Eight processes in two communicators of four: rank 2 of one of them is not rank 2 of the job.
TEST(RasRanks, OfTwoLargestWithOtherMembersNeitherIsTheJob) {
  const auto joined = join(file("a", answer({communicator(0xa, 4, 1, 100), communicator(0xb, 4, 1, 200)})));
  EXPECT_EQ(joined.ras.world_hash, 0u);
  EXPECT_EQ(joined.ras.views[0].communicators[1].ranks[2].global_rank, -1);
  const auto world = communicator(0xa, 4, 1);
  auto again = world;
  again.hash = 0xb;
  EXPECT_EQ(join(file("a", answer({world, again}))).ras.world_hash, 0xau);
}

TEST(RasRanks, ATableThatShowsMoreOfThatSizeTellsToo) {
  auto text = answer({communicator(0xa, 4, 1)});
  text.is_json = false;
  model::RasRow row;
  row.communicators = 2;
  row.size = 4;
  text.rows = {row};
  text.gpus = 8;
  EXPECT_EQ(join(file("a", text)).ras.world_hash, 0u);
  text.gpus = 4;
  EXPECT_EQ(join(file("a", text)).ras.world_hash, 0xau);
}

}  // namespace
}  // namespace unhang::join
