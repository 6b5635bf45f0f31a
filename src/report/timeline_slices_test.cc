// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_slices.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

using model::Operation;

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

Operation operation(std::int64_t from, std::int64_t to, std::uint8_t flags = 0) {
  Operation op;
  op.created_ns = kStart + from;
  if (to > from) {
    op.completed_ns = kStart + to;
    flags |= Operation::kFinished;
  }
  op.flags = flags;
  return op;
}

struct Drawn {
  TraceTime start, end;
  std::uint32_t operation, lane;
  bool operator==(const Drawn&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Drawn& d) {
  return out << d.start << '-' << d.end << " op " << d.operation << " lane " << d.lane;
}

std::vector<Drawn> draw(std::vector<Operation> operations) {
  model::Case joined;
  joined.ranks.emplace_back().operations = std::move(operations);
  std::vector<Drawn> out;
  for (const Slice& slice : slices_of(joined.ranks[0], trace_span(joined))) {
    out.push_back({slice.start, slice.end, slice.operation, slice.lane});
  }
  return out;
}

TEST(TimelineSlices, FollowEachOtherOrNestOrGoToTheNextLane) {
  EXPECT_EQ(draw({operation(0, 10), operation(10, 20), operation(12, 15), operation(18, 30)}),
            (std::vector<Drawn>{{0, 10, 0, 0}, {10, 20, 1, 0}, {12, 15, 2, 0}, {18, 30, 3, 1}}));
}

TEST(TimelineSlices, UnfinishedOnesRunToTheEnd) {
  // The end: the last recorded time and at least a millisecond.
  EXPECT_EQ(draw({operation(0, 10), operation(10, 0)}),
            (std::vector<Drawn>{{0, 10, 0, 0}, {10, 1'000'010, 1, 0}}));
}

TEST(TimelineSlices, BlockHoldsItsOperations) {
  const auto inner = Operation::kInner;
  EXPECT_EQ(draw({operation(0, 0, inner), operation(4, 0, inner), operation(9, 20, Operation::kClosing)}),
            (std::vector<Drawn>{{0, 20, 2, 0}, {0, 4, 0, 0}, {4, 9, 1, 0}}));
}

TEST(TimelineSlices, NoTimeAndStrangeTimes) {
  Operation none = operation(0, 10);
  none.created_ns = 0;
  Operation first = operation(0, 0);
  first.created_ns = std::numeric_limits<std::int64_t>::min();
  Operation last = operation(0, 0);
  last.created_ns = std::numeric_limits<std::int64_t>::max();
  const auto drawn = draw({none, first, last});
  ASSERT_EQ(drawn.size(), 2U);
  for (const Drawn& slice : drawn) EXPECT_LT(slice.start, slice.end);
  EXPECT_EQ(drawn[0].operation, 1U);
}

// Whatever the times are: slices of a lane never cross, and each operation is drawn once.
TEST(TimelineSlices, NeverCross) {
  std::uint32_t seed = 1;
  const auto next = [&](std::uint32_t below) {
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % below;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Operation> operations;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::uint8_t kinds[] = {0, 0, Operation::kInner, Operation::kClosing};
      const std::int64_t from = next(100);
      operations.push_back(operation(from, from + next(40), kinds[next(4)]));
    }
    auto drawn = draw(operations);
    ASSERT_EQ(drawn.size(), operations.size());
    std::stable_sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
      return std::tuple(a.lane, a.start, ~a.end) < std::tuple(b.lane, b.start, ~b.end);
    });
    std::vector<TraceTime> ends;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (i > 0 && drawn[i].lane != drawn[i - 1].lane) ends.clear();
      while (!ends.empty() && ends.back() <= drawn[i].start) ends.pop_back();
      ASSERT_TRUE(ends.empty() || drawn[i].end <= ends.back()) << "round " << round << ": " << drawn[i];
      ends.push_back(drawn[i].end);
    }
  }
}

}  // namespace
}  // namespace unhang::report
