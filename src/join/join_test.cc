// SPDX-License-Identifier: Apache-2.0
//
// Who wrote which dump, which dumps belong together, which groups there are.
#include "join/join.h"

#include <gtest/gtest.h>

#include "join/dumps_for_tests.h"

namespace unhang::join {
namespace {

using model::Membership;
using Ranks = std::vector<std::int32_t>;

TestDump ordinary(int rank, const char* world = "[0, 1, 2]") {
  TestDump d("dump_" + std::to_string(rank));
  d.world(world).call("all_reduce", 1, "completed").call("all_reduce", 2, "completed");
  return d;
}

Ranks present(const model::Case& joined) {
  Ranks out;
  for (const auto& rank : joined.ranks) {
    if (rank.input) out.push_back(rank.global_rank);
  }
  return out;
}

TEST(Identity, FileNamesSayTheRank) {
  const auto joined = join_all(list(ordinary(2).finish(), ordinary(0).finish()));
  EXPECT_EQ(joined.ranks.size(), 3u);
  EXPECT_EQ(present(joined), (Ranks{0, 2}));
  EXPECT_FALSE(joined.world_inferred);
  ASSERT_EQ(joined.coverage.size(), 1u);
  EXPECT_EQ(joined.global_ranks(joined.coverage[0].absent), Ranks{1});
  EXPECT_EQ(joined.global_ranks(joined.coverage[0].seen), (Ranks{0, 2}));
}

// A rank is a member of every group that its dump declares: that proves more than a name.
TEST(Identity, ContentWinsOverTheName) {
  TestDump wrong("dump_2");
  wrong.world("[0, 1, 2]")
      .group("4", "tp", "[0, 1]")
      .group("6", "dp", "[1]")
      .call("all_reduce", 1, "completed");
  const auto joined = join_all(list(wrong.finish(), ordinary(0).finish()));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  ASSERT_EQ(joined.conflicts.size(), 1u);
  EXPECT_NE(joined.conflicts[0].text.find("rank 2"), std::string::npos);
  EXPECT_NE(joined.conflicts[0].text.find("rank 1"), std::string::npos);
}

TEST(Identity, ContentThatOnlyContradictsLeavesTheRankUnknown) {
  TestDump wrong("dump_9");
  wrong.world("[0, 1, 2]").call("all_reduce", 1, "completed");
  const auto joined = join_all(list(wrong.finish(), ordinary(0).finish()));
  EXPECT_EQ(present(joined), Ranks{0});
  EXPECT_EQ(joined.conflicts.size(), 1u);
  EXPECT_EQ(joined.set_aside.size(), 1u);
}

TEST(Identity, ContentAloneIsEnough) {
  TestDump nameless("dump");
  nameless.world("[0, 1, 2]").group("6", "dp", "[2]").call("all_reduce", 1, "completed");
  EXPECT_EQ(present(join_all(list(nameless.finish(), ordinary(0).finish()))), (Ranks{0, 2}));
  TestDump unknown("dump");
  unknown.world("[0, 1, 2]").call("all_reduce", 1, "completed");
  const auto joined = join_all(list(unknown.finish(), ordinary(0).finish()));
  EXPECT_EQ(joined.set_aside.size(), 1u);
  EXPECT_TRUE(joined.conflicts.empty());
}

// gloo of torch 2.14 writes every group over the last one under an empty name.
TEST(Identity, NamelessGroupOfGlooProvesNothing) {
  TestDump d("dump_9", "gloo");
  d.group("", "", "[0, 1]").call("all_reduce", 1, "scheduled", true);
  d.in("1", "sub", 1).call("all_reduce", 1, "scheduled", true);
  const auto joined = join_all(list(d.finish()));
  EXPECT_EQ(present(joined), Ranks{9});
  EXPECT_TRUE(joined.conflicts.empty());
  EXPECT_EQ(joined.ranks.size(), 1u);
  EXPECT_TRUE(joined.world_inferred);
}

// Ranks have no gaps: where no dump states the world, a rank between others is one that left nothing.
TEST(Identity, GapsOfAnUnstatedWorldAreExpectedRanks) {
  std::vector<formats::Evidence> dumps;
  for (const int rank : {0, 1, 3}) {
    TestDump d("dump_" + std::to_string(rank), "gloo");
    dumps.push_back(d.call("all_reduce", 1, "scheduled", true).finish());
  }
  const auto joined = join_all(std::move(dumps));
  EXPECT_EQ(joined.global_ranks(joined.coverage.at(0).absent), Ranks{2});
  EXPECT_TRUE(joined.world_inferred);
}

TEST(Identity, WorldSizeMayBeToldByThePerson) {
  TestDump d("dump_1", "gloo");
  d.call("all_reduce", 1, "scheduled", true);
  const auto joined = join_all(list(d.finish()), 1, Hints{.world_size = 4});
  EXPECT_EQ(joined.ranks.size(), 4u);
  EXPECT_FALSE(joined.world_inferred);
}

TEST(SameRun, AnotherWorldIsSetAside) {
  const auto joined =
      join_all(list(ordinary(0).finish(), ordinary(1).finish(), ordinary(2, "[0, 1, 2, 3]").finish()));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  ASSERT_EQ(joined.set_aside.size(), 1u);
  EXPECT_EQ(joined.inputs[joined.set_aside[0].input].path, "dump_2");
  EXPECT_NE(joined.set_aside[0].reason.find("another job"), std::string::npos);
}

TEST(SameRun, GroupsThatNobodyElseKnows) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 4; ++rank) {
    TestDump d("dump_" + std::to_string(rank));
    d.world("[0, 1, 2, 3]")
        .group(rank == 3 ? "77" : "9", "dp", "[0, 1, 2, 3]")
        .call("all_reduce", 1, "completed");
    dumps.push_back(d.finish());
  }
  const auto joined = join_all(std::move(dumps));
  EXPECT_EQ(present(joined), (Ranks{0, 1, 2}));
  EXPECT_NE(set_aside_texts(joined).at(0).find("dump_3: another job"), std::string::npos);
}

// The two halves of a job name different subgroups: that is ordinary.
TEST(SameRun, OwnSubgroupsAreOrdinary) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 4; ++rank) {
    TestDump d("dump_" + std::to_string(rank));
    d.world("[0, 1, 2, 3]")
        .group(rank < 2 ? "5" : "6", "tp", rank < 2 ? "[0, 1]" : "[2, 3]")
        .call("all_reduce", 1, "completed");
    dumps.push_back(d.finish());
  }
  EXPECT_TRUE(join_all(std::move(dumps)).set_aside.empty());
}

TEST(SameRun, TimesFarApart) {
  TestDump old("dump_2");
  old.world("[0, 1, 2]").at(-86400 * 3).call("all_reduce", 1, "completed");
  const auto joined = join_all(list(ordinary(0).finish(), ordinary(1).finish(), old.finish()));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  EXPECT_NE(set_aside_texts(joined).at(0).find("dump_2: another run"), std::string::npos);
}

// One who stopped before the time-out of the others ran is what is looked for.
TEST(SameRun, StoppedAWhileAgoBelongs) {
  TestDump late("dump_1");
  late.world("[0, 1, 2]").call("all_reduce", 1, "completed");
  TestDump other("dump_0");
  other.world("[0, 1, 2]").call("all_reduce", 1, "completed").at(590).call("all_reduce", 2, "scheduled");
  EXPECT_TRUE(join_all(list(other.finish(), late.finish())).set_aside.empty());
}

TEST(SameRun, LeftFromAnEarlierStart) {
  TestDump old("dump_2");
  old.world("[0, 1, 2]").at(-400).call("all_reduce", 1, "completed");
  const auto joined = join_all(list(ordinary(0).finish(), ordinary(1).finish(), old.finish()));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  EXPECT_NE(set_aside_texts(joined).at(0).find("dump_2: an earlier start"), std::string::npos);
}

TEST(SameRun, PickleAndJsonOfOneMomentCountOnce) {
  TestDump json("json/dump_0");
  json.world("[0, 1, 2]").call("all_reduce", 1, "completed").call("all_reduce", 2, "completed");
  const auto joined = join_all(list(ordinary(0).finish(), ordinary(1).finish(), json.finish(true, true)));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  EXPECT_EQ(joined.inputs[*joined.ranks[0].input].path, "dump_0");  // the pickle, which may have stacks
  EXPECT_NE(set_aside_texts(joined).at(0).find("json/dump_0: the same dump of rank 0"), std::string::npos);
}

TEST(SameRun, TheNewerOfTwoDumpsIsTaken) {
  TestDump newer("new/dump_0");
  newer.world("[0, 1, 2]")
      .call("all_reduce", 1, "completed")
      .call("all_reduce", 2, "completed")
      .call("all_reduce", 3, "scheduled");
  const auto joined = join_all(list(ordinary(0).finish(), ordinary(1).finish(), newer.finish()));
  EXPECT_EQ(joined.inputs[*joined.ranks[0].input].path, "new/dump_0");
  EXPECT_NE(set_aside_texts(joined).at(0).find("dump_0: a second dump of rank 0"), std::string::npos);
}

TEST(SameRun, TheCompleteOneOfTwoIsTaken) {
  TestDump cut("cut/dump_0");
  cut.world("[0, 1, 2]")
      .call("all_reduce", 1, "completed")
      .call("all_reduce", 2, "completed")
      .call("all_reduce", 3, "scheduled");
  const auto joined = join_all(list(ordinary(0).finish(), cut.finish(false)));
  EXPECT_EQ(joined.inputs[*joined.ranks[0].input].path, "dump_0");
}

// All ranks left a dump of the first start; rank 2 left none of the second: its old one is not mixed in.
TEST(SameRun, LaterIncarnation) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 3; ++rank) {
    TestDump first("first/dump_" + std::to_string(rank));
    first.world("[0, 1, 2]").call("all_reduce", 1, "completed");
    dumps.push_back(first.finish());
    if (rank == 2) continue;
    TestDump second("second/dump_" + std::to_string(rank));
    second.world("[0, 1, 2]").at(300).call("all_reduce", 1, "scheduled");
    dumps.push_back(second.finish());
  }
  const auto joined = join_all(std::move(dumps));
  EXPECT_EQ(present(joined), (Ranks{0, 1}));
  EXPECT_EQ(joined.inputs[*joined.ranks[0].input].path, "second/dump_0");
  EXPECT_EQ(joined.set_aside.size(), 3u);
}

// "job4711_rank_3": what stands before the number is a host only where names differ and nobody else knows
// better.
TEST(HostOfDumpName, CountsOnlyWhereItCanBeAHost) {
  const auto named = [](const char* first, const char* second) {
    std::vector<formats::Evidence> dumps;
    for (const char* name : {first, second}) {
      TestDump dump(name);
      dump.world("[0, 1]").call("all_reduce", 1, "completed");
      dumps.push_back(dump.finish());
    }
    return join_all(std::move(dumps));
  };
  const auto job = named("nccl_trace_rank_job4711_0", "nccl_trace_rank_job4711_1");
  EXPECT_EQ(job.ranks[0].host, "");
  const auto hosts = named("nccl_trace_rank_node01_0", "nccl_trace_rank_node02_1");
  EXPECT_EQ(hosts.ranks[0].host, "node01");
  EXPECT_EQ(hosts.ranks[1].host, "node02");
}

std::string group_text(const model::Case& joined, model::GroupIndex index) {
  const auto& group = joined.groups[index];
  std::string out = joined.group_label(index) + ' ' + std::string(joined.text(group.backend)) + ' ';
  for (const std::int32_t rank : joined.global_ranks(group.members)) out += std::to_string(rank);
  return out + (group.membership == Membership::kDeclared ? "" : " inferred");
}

TEST(Groups, DeclaredOnesInNaturalOrder) {
  TestDump d("dump_1");
  d.world("[0, 1, 2]")
      .group("10", "tp", "[2, 1]")
      .group("2", "dp", "[0, 1]")
      .call("all_reduce", 1, "completed");
  const auto joined = join_all(list(d.finish()));
  ASSERT_EQ(joined.groups.size(), 3u);
  EXPECT_EQ(group_text(joined, 0), "default_pg (0) nccl 012");
  EXPECT_EQ(group_text(joined, 1), "dp (2)  01");
  EXPECT_EQ(group_text(joined, 2), "tp (10)  12");
  EXPECT_EQ(joined.groups[2].members, (std::vector<model::RankIndex>{2, 1}));  // in group order
}

TEST(Groups, InferredWhereNotDeclared) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 3; ++rank) {
    TestDump d("dump_" + std::to_string(rank), "gloo");
    d.group("", "", "[0, 1]").call("all_reduce", 1, "scheduled", true);
    if (rank != 1) d.in("4", "sub", 1).call("barrier", 1, "scheduled", true);
    dumps.push_back(d.finish());
  }
  const auto joined = join_all(std::move(dumps));
  ASSERT_EQ(joined.groups.size(), 2u);
  EXPECT_EQ(group_text(joined, 0), "default_pg (0) gloo 012 inferred");
  EXPECT_EQ(group_text(joined, 1), "sub (4) gloo 02 inferred");
}

TEST(Groups, SameNameWithOtherMembersIsAnotherGroup) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 4; ++rank) {
    TestDump d("dump_" + std::to_string(rank));
    d.world("[0, 1, 2, 3]").group("tp", "tp", rank < 2 ? "[0, 1]" : "[2, 3]");
    d.in("tp", "tp", 1).call("all_reduce", 1, "completed");
    dumps.push_back(d.finish());
  }
  const auto joined = join_all(std::move(dumps));
  ASSERT_EQ(joined.groups.size(), 3u);
  EXPECT_EQ(group_text(joined, 1), "group tp nccl 01");
  EXPECT_EQ(group_text(joined, 2), "group tp nccl 23");
  EXPECT_EQ(joined.ranks[2].operations.at(0).group, 2u);
}

// Another process numbers its groups differently: names bring them together, never pg_id.
TEST(Groups, LocalNumbersDoNotMatter) {
  TestDump a("dump_0");
  a.world("[0, 1]").group("5", "tp", "[0, 1]").in("5", "tp", 1).call("all_reduce", 1, "completed");
  TestDump b("dump_1");
  b.world("[0, 1]").group("5", "tp", "[0, 1]").in("5", "tp", 8).call("all_reduce", 1, "completed");
  const auto joined = join_all(list(a.finish(), b.finish()));
  EXPECT_EQ(joined.ranks[0].operations.at(0).group, joined.ranks[1].operations.at(0).group);
}

TEST(Groups, TwoBackendsInOneGroupCountApart) {
  std::vector<formats::Evidence> dumps;
  for (int rank = 0; rank < 2; ++rank) {
    TestDump d("dump_" + std::to_string(rank));
    d.world("[0, 1]").call("all_reduce", 1, "completed");
    formats::Evidence evidence = d.finish();
    TestDump gloo("dump_" + std::to_string(rank), "gloo");
    gloo.world("[0, 1]").call("barrier", 1, "scheduled", true);
    // One dump with both: the gloo entry goes behind the nccl one.
    formats::flight_recorder::DumpBuilder both;
    const auto symbol = [&](std::string_view text) { return both.vocabulary().symbols.intern(text); };
    both.declare_group(symbol("0"), symbol("default_pg"), symbol("[0, 1]"));
    both.add_status({0, 9, -1, 9});
    for (const char* name : {"nccl:all_reduce", "gloo:barrier"}) {
      formats::flight_recorder::Entry entry;
      entry.pg_id = 0;
      entry.group_name = symbol("0");
      entry.group_description = symbol("default_pg");
      entry.profiling_name = symbol(name);
      entry.collective_sequence = 1;
      entry.state = symbol("scheduled");
      both.add(entry);
    }
    evidence.dumps[0] = both.finish(true, false);
    dumps.push_back(std::move(evidence));
  }
  const auto joined = join_all(std::move(dumps));
  ASSERT_EQ(joined.groups.size(), 2u);
  EXPECT_EQ(group_text(joined, 0), "default_pg (0) gloo 01");
  EXPECT_EQ(group_text(joined, 1), "default_pg (0) nccl 01");
  // Whose the numbers of pg_status are is not known: they count for neither.
  EXPECT_EQ(joined.ranks[0].lane(1)->last_enqueued, 1);
}

TEST(Join, TheSameOnAnyNumberOfThreads) {
  const auto describe = [](unsigned threads) {
    std::vector<formats::Evidence> dumps;
    for (int rank = 0; rank < 40; ++rank) {
      TestDump d("dump_" + std::to_string(rank));
      std::string ranks = "[0";
      for (int i = 1; i < 40; ++i) ranks += ", " + std::to_string(i);
      d.world(ranks + "]");
      for (int i = 1; i < 30; ++i)
        d.call(i % 3 == 0 ? "all_gather" : "op" + std::to_string(rank), i, "completed");
      dumps.push_back(d.finish());
    }
    const auto joined = join_all(std::move(dumps), threads);
    std::string out;
    for (const auto& rank : joined.ranks) {
      out += std::to_string(rank.global_rank) + ':';
      for (const auto& op : rank.operations) {
        out += std::to_string(op.signature) + '/' + std::to_string(op.group) + '/' +
               std::to_string(op.flags) + ' ';
      }
    }
    return out;
  };
  const std::string one = describe(1);
  EXPECT_EQ(describe(2), one);
  EXPECT_EQ(describe(7), one);
}

TEST(Coverage, UnreadableAndPartialFilesAreNamed) {
  formats::Evidence broken;
  broken.path = "dump_1";
  broken.problems.push_back({model::Severity::kDataLoss, "truncated", "cut", {}, 0});
  const auto joined = join_all(list(ordinary(0).finish(), std::move(broken), ordinary(2).finish(false)));
  const auto& row = joined.coverage.at(0);
  EXPECT_EQ(joined.global_ranks(row.seen), Ranks{0});
  EXPECT_EQ(joined.global_ranks(row.partial), Ranks{2});
  EXPECT_EQ(joined.global_ranks(row.unreadable), Ranks{1});
  EXPECT_TRUE(row.absent.empty());
}

TEST(Join, NothingAtAll) {
  const auto joined = join_all({});
  EXPECT_TRUE(joined.ranks.empty());
  EXPECT_TRUE(joined.groups.empty());
}

}  // namespace
}  // namespace unhang::join
