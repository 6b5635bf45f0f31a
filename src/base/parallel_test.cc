// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(ThreadCount, IsAtLeastOneAndAtMostTheItems) {
  EXPECT_EQ(thread_count(4, 0), 1u);
  EXPECT_EQ(thread_count(4, 1), 1u);
  EXPECT_EQ(thread_count(4, 3), 3u);
  EXPECT_EQ(thread_count(4, 100), 4u);
  EXPECT_GE(thread_count(0, 1000), 1u);
}

TEST(ParallelFor, EachIndexOnce) {
  for (const unsigned threads : {1u, 2u, 7u, 0u}) {
    for (const std::size_t items : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> calls(items);
      parallel_for(items, threads, [&](std::size_t i) { ++calls[i]; });
      for (const auto& count : calls) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ParallelFor, WorkersAreNumberedAndUsedByOneThread) {
  constexpr unsigned kThreads = 3;
  std::vector<std::atomic<int>> inside(kThreads);
  std::atomic<bool> shared{false};
  parallel_for(300, kThreads, [&](std::size_t, unsigned worker) {
    ASSERT_LT(worker, kThreads);
    if (++inside[worker] != 1) shared = true;
    std::this_thread::yield();
    --inside[worker];
  });
  EXPECT_FALSE(shared);
}

TEST(ParallelFor, OneThreadGoesInOrder) {
  std::vector<std::size_t> order;
  parallel_for(6, 1, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(ParallelFor, ExceptionsArriveHere) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<int> calls{0};
    const auto run = [&] {
      parallel_for(100000, threads, [&](std::size_t i) {
        ++calls;
        if (i == 3) throw std::runtime_error("three");
      });
    };
    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_GE(calls, 1);
  }
}

}  // namespace
}  // namespace unhang::base
