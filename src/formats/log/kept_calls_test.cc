// SPDX-License-Identifier: Apache-2.0
#include "formats/log/kept_calls.h"

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

CallLine call(std::uint64_t op_count) {
  CallLine read;
  read.kind = "AllReduce";
  read.op_count = op_count;
  return read;
}

TEST(KeptCalls, TheLatestOfEachInOrder) {
  KeptCalls calls;
  for (std::uint64_t i = 0; i < 100; ++i) calls.add(0, call(i), i + 1);
  calls.add(1, call(7), 500);
  const auto kept = calls.take();
  ASSERT_EQ(kept.size(), 65u);
  EXPECT_EQ(kept.front().op_count, 36u);
  EXPECT_EQ(kept.front().line, 37u);
  EXPECT_EQ(kept[63].op_count, 99u);
  EXPECT_EQ(kept[64].communicator, 1u);
  EXPECT_EQ(kept[64].kind, "AllReduce");
}

TEST(KeptCalls, ThoseThatWereSilentLongestGiveRoom) {
  KeptCalls calls;
  std::uint64_t line = 0;
  for (std::uint32_t communicator = 0; communicator < 2000; ++communicator) {
    for (std::uint64_t i = 0; i < 64; ++i) calls.add(communicator, call(i), ++line);
  }
  const auto kept = calls.take();
  EXPECT_LE(kept.size(), std::size_t{1} << 16);
  EXPECT_GE(kept.size(), std::size_t{1} << 15);
  EXPECT_EQ(kept.back().communicator, 1999u);
  EXPECT_GT(kept.front().communicator, 0u);
}

TEST(KeptCalls, NamesWithoutEndAreBounded) {
  KeptCalls calls;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string name = "Kind" + std::to_string(i);
    CallLine read = call(i);
    read.kind = name;
    calls.add(0, read, i);
  }
  EXPECT_EQ(calls.take().size(), 64u);
}

}  // namespace
}  // namespace unhang::formats::log
