// SPDX-License-Identifier: Apache-2.0
#include "formats/log/line_stream.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

std::vector<std::string> messages(std::string_view text, std::size_t block, model::Log& log) {
  Facts facts(log);
  KeywordFilter filter;
  LineStream::add_keywords(filter);
  filter.add("caught collective", 1);
  filter.add("[Rank ", 1);
  filter.prepare();
  std::vector<std::string> found;
  LineStream stream(facts, filter, [&](const Line& line) {
    found.push_back(std::to_string(line.number) + " " + std::string(line.message));
  });
  for (std::size_t at = 0; at < text.size(); at += block) stream.feed(text.substr(at, block));
  stream.finish();
  return found;
}

void expect(std::string_view text, const std::vector<std::string>& wanted) {
  for (const std::size_t block : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    model::Log log;
    EXPECT_EQ(messages(text, block, log), wanted) << block;
  }
}

TEST(LineStream, SplitsGluedRecords) {
  expect("h:1:2 [0] NCCL INFO one h:1:3 [0] NCCL INFO two\n", {"1 one", "1 two"});
  expect("h:1:2 [0] NCCL INFO oneh:1:3 [0] NCCL INFO two\n", {"1 one", "1 two"});
  expect("50%|###  | 3/6 [rank2]:[E1016 03:31:38.9 a.cpp:6] [Rank 2] x\n", {"1 [Rank 2] x"});
  expect("h:1:2 [0] NCCL INFO set NCCL WARN level\n", {"1 set NCCL WARN level"});
}

TEST(LineStream, JoinsWrappedNumbersAndWords) {
  expect(
      "[rank4]:[E304 12:54:52.1 P.cpp:6] [Rank 4] Watchdog caught collective operation timeout: "
      "WorkNCCL(NumelOut=1\n"
      "29280, Timeout(ms)=600000) ran for 600049 milliseconds before timing out.\nother\n",
      {"1 [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(NumelOut=129280, "
       "Timeout(ms)=600000) ran "
       "for 600049 milliseconds before timing out."});
  expect(
      "[Rank 0] Watchdog caught collective operation timeout:\n  WorkNCCL(NumelIn=1)\n  ran for 18 "
      "milliseconds "
      "before timing out.\n",
      {"1 [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(NumelIn=1) ran for 18 milliseconds "
       "before timing out."});
}

TEST(LineStream, NeverJoinsWhatHasAPrefix) {
  expect("[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(NumelOut=1\n[rank5]: [Rank 5] x\n",
         {"1 [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(NumelOut=1", "2 [Rank 5] x"});
}

TEST(LineStream, WrappedRecordAtTheEndIsHandedOut) {
  expect("[Rank 4] Watchdog caught collective operation timeout: WorkNCCL(NumelOut=1",
         {"1 [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(NumelOut=1"});
}

TEST(LineStream, CountsAndTimes) {
  model::Log log;
  messages("[ 10.000000] a\n[  +0.500000] b\nh:1:2 [0] NCCL INFO x\n\n[1,0]<stdout>:\n", 5, log);
  EXPECT_EQ(log.lines, 5u);
  EXPECT_EQ(log.nccl_lines, 1u);
  EXPECT_EQ(log.first.ns, 10'000'000'000);
  EXPECT_EQ(log.last.ns, 10'500'000'000);
  EXPECT_EQ(log.last_text, "x");
}

}  // namespace
}  // namespace unhang::formats::log
