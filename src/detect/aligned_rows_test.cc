// SPDX-License-Identifier: Apache-2.0
#include "detect/aligned_rows.h"

#include <gtest/gtest.h>

#include "detect/case_builder_for_tests.h"
#include "detect/joined_rows.h"

namespace unhang::detect {
namespace {

using model::Attention;
using model::CellRelation;
using model::CellState;

// "#3 op_mismatch ! 0,1:done 2:enqueued/op_mismatch": all of a row that matters, in one line.
std::string row_text(const model::Case& joined, const model::AlignedRow& row) {
  std::string out =
      row.is_transfer ? std::to_string(row.source) + "->" + std::to_string(row.destination) : "";
  out += "#" + (row.ordinal ? std::to_string(*row.ordinal) : "-") + ' ' +
         std::string(
             joined.text(joined.signature(joined.ranks[row.call.rank].operations[row.call.operation]).name));
  if (row.attention == Attention::kWrong) out += " !";
  if (row.attention == Attention::kNoted) out += " ~";
  if (row.tied) out += " tied";
  if (row.behind) out += " behind " + std::to_string(*row.behind);
  for (const model::AlignedCell& cell : row.cells) {
    std::string ranks;
    for (const auto rank : cell.ranks) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    out += " " + ranks + ":" + std::string(model::name_of(cell.state));
    if (cell.relation != CellRelation::kMatched) out += "/" + std::string(model::name_of(cell.relation));
  }
  return out;
}

std::vector<std::string> rows_of(CaseBuilder& c, const RowFilter& filter = {}) {
  std::vector<std::string> out;
  const model::Case& joined = c.joined();
  for_each_row(joined, filter, [&](const model::AlignedRow& row) { out.push_back(row_text(joined, row)); });
  return out;
}

using Texts = std::vector<std::string>;

TEST(AlignedRows, EqualRanksShareACell) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  c.done(world, "all_reduce").open(world, "all_gather", {0, 1, 3});
  EXPECT_EQ(rows_of(c),
            (Texts{"#1 all_reduce 0,1,2,3:done", "#2 all_gather ! 0,1,3:enqueued 2:not_arrived"}));
}

TEST(AlignedRows, WhatComesAfterAStuckRowIsToNote) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.open(world, "all_reduce", {0, 1}).open(world, "broadcast", {0, 1});
  EXPECT_EQ(rows_of(c), (Texts{"#1 all_reduce ! 0,1:enqueued", "#2 broadcast ~ behind 1 0,1:enqueued"}));
}

TEST(AlignedRows, TheMajorityDecidesAndATieMarksBoth) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  const auto pair = c.group("1", "tp", {0, 1});
  c.same_time().done(world, "all_reduce", {1, 2}).done(world, "all_gather", {0}).end_line();
  c.same_time()
      .done(pair, "all_reduce", {0}, elements(8))
      .done(pair, "all_reduce", {1}, elements(9))
      .end_line();
  EXPECT_EQ(rows_of(c), (Texts{"#1 all_reduce ! 0:done/op_mismatch 1,2:done",
                               "#1 all_reduce ! tied 0:done/size_mismatch 1:done/size_mismatch"}));
}

TEST(AlignedRows, OneBehindIsAStaleStateAndNotWrong) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.same_time().done(world, "all_reduce", {0, 1}).open(world, "all_reduce", {2}).end_line();
  EXPECT_EQ(rows_of(c), (Texts{"#1 all_reduce ~ 0,1:done 2:enqueued/state_mismatch"}));
}

TEST(AlignedRows, SeveralBehindIsAStoppedDeviceAndWrong) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  for (int i = 0; i < 4; ++i) {
    c.same_time().done(world, "all_reduce", {0, 1}).open(world, "all_reduce", {2}).end_line();
  }
  const Texts rows = rows_of(c);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "#1 all_reduce ! 0,1:done 2:enqueued/state_mismatch");
  EXPECT_EQ(rows[3], "#4 all_reduce ~ behind 1 0,1:done 2:enqueued/state_mismatch");
}

TEST(AlignedRows, ForgottenAndSilentAreNotAbsent) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  c.done(world, "all_reduce").done(world, "all_reduce").wrap(1, 1).silent(2);
  EXPECT_EQ(rows_of(c),
            (Texts{"#1 all_reduce 0:done 1:forgotten 2:unknown", "#2 all_reduce 0,1:done 2:unknown"}));
}

TEST(AlignedRows, SizesOfAllToAllAreUndecidedAndOwnContradictionIsASizeMismatch) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.same_time()
      .done(world, "all_to_all", {0}, elements(5))
      .done(world, "all_to_all", {1}, elements(7))
      .end_line();
  c.done(world, "all_reduce", elements(4, 5));
  EXPECT_EQ(rows_of(c),
            (Texts{"#1 all_to_all 0,1:done/undecided", "#2 all_reduce ! 0,1:done/size_mismatch"}));
}

TEST(AlignedRows, TransfersByEdgeAndNumber) {
  CaseBuilder c(2);
  const auto world = c.group("0", "default_pg", {0, 1});
  c.send(world, 0, 1, true).receive(world, 1, 0, true);
  c.send(world, 0, 1, false, elements(8)).receive(world, 1, 0, false, elements(9));
  c.send(world, 1, 0);
  EXPECT_EQ(rows_of(c), (Texts{"0->1#0 send 0:done 1:done",
                               "0->1#1 send ! tied 0:enqueued/size_mismatch 1:enqueued/size_mismatch",
                               "1->0#0 send ! 1:enqueued 0:not_arrived"}));
}

TEST(AlignedRows, Filters) {
  CaseBuilder c(4);
  const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
  const auto tp = c.group("1", "tp", {0, 1});
  c.done(world, "all_reduce").done(tp, "_all_gather_base").open(world, "all_reduce", {0, 1, 2});
  EXPECT_EQ(rows_of(c, {.groups = {tp}}), (Texts{"#1 _all_gather_base 0,1:done"}));
  EXPECT_EQ(rows_of(c, {.operation = "all_gather"}), (Texts{"#1 _all_gather_base 0,1:done"}));
  EXPECT_EQ(rows_of(c, {.ranks = {3}}), (Texts{"#1 all_reduce 3:done", "#2 all_reduce ! 3:not_arrived"}));
  EXPECT_EQ(rows_of(c, {.from = 2, .to = 9}), (Texts{"#2 all_reduce ! 0,1,2:enqueued 3:not_arrived"}));
  EXPECT_EQ(rows_of(c, {.only_wrong = true}), (Texts{"#2 all_reduce ! 0,1,2:enqueued 3:not_arrived"}));
  EXPECT_EQ(rows_of(c, {.to = 0}), Texts{});
  EXPECT_EQ(find_groups(c.joined(), "tp"), (std::vector<model::GroupIndex>{tp}));
  EXPECT_EQ(find_groups(c.joined(), "default_pg (0)"), (std::vector<model::GroupIndex>{world}));
  EXPECT_TRUE(find_groups(c.joined(), "pp").empty());
}

// Members whose numbers have nothing in common: the cost must not grow with rows times members.
TEST(AlignedRows, NumbersWithoutAnythingInCommon) {
  constexpr int kRanks = 1000;
  constexpr std::int64_t kEach = 50;
  model::Case joined;
  model::Group& group = joined.groups.emplace_back();
  group.membership = model::Membership::kDeclared;
  const auto signature =
      joined.vocabulary.intern(model::Signature{.name = joined.vocabulary.symbols.intern("x")});
  for (int i = 0; i < kRanks; ++i) {
    group.members.push_back(static_cast<model::RankIndex>(i));
    model::Rank& rank = joined.ranks.emplace_back();
    rank.global_rank = i;
    rank.input = 0;
    model::Lane lane;
    for (std::int64_t k = 0; k < kEach; ++k) {
      lane.collectives.push_back(static_cast<std::uint32_t>(rank.operations.size()));
      model::Operation& op = rank.operations.emplace_back();
      op.collective_sequence = k * kRanks + i;
      op.signature = signature;
      op.flags = model::Operation::kFinished;
    }
    rank.lanes.push_back(lane);
  }
  std::size_t rows = 0;
  std::size_t ranks = 0;
  std::int64_t last = -1;
  for_each_row(joined, {}, [&](const model::AlignedRow& row) {
    ++rows;
    for (const auto& cell : row.cells) ranks += cell.ranks.size();
    EXPECT_EQ(*row.ordinal, last + 1);
    last = *row.ordinal;
  });
  EXPECT_EQ(rows, kRanks * kEach);
  EXPECT_LT(ranks, rows * 100);  // all members of all rows would be 1,000 a row
}

TEST(JoinedRows, InOrderOfArrivalAndWithinTheLimit) {
  CaseBuilder c(3);
  const auto world = c.group("0", "default_pg", {0, 1, 2});
  CallOptions late;
  late.late_ns = 500;
  c.same_time().done(world, "all_reduce", {1, 2}).done(world, "all_reduce", {0}, late).end_line();
  c.open(world, "all_reduce", {0, 1});
  const auto all = joined_rows(c.joined());
  ASSERT_EQ(all.rows.size(), 2U);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.rows[0][0].rank, 1U);
  EXPECT_EQ(all.rows[0][2].rank, 0U);
  const auto few = joined_rows(c.joined(), 2);
  EXPECT_FALSE(few.complete);
  ASSERT_EQ(few.rows.size(), 1U);
  EXPECT_EQ(few.rows[0].size(), 2U);
}

}  // namespace
}  // namespace unhang::detect
