// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl_tests/nccl_tests.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/nccl_tests/open_end.h"

namespace unhang::formats::nccl_tests {
namespace {

using model::BandwidthRun;

constexpr std::string_view kWhole = R"({"version":3,"start_time":"2026-11-30 06:00:00",
 "args":["\/opt\/build\/all_reduce_perf","-J","out.json","--token=hunter2"],
 "env":["HOME=\/root","WANDB_API_KEY=hunter2"],
 "nccl_version":23007,
 "config":{"nthreads":1,"ngpus":1,"graph":0,"validation":"true","devices":[
  {"rank":0,"group":0,"pid":10,"hostname":"node-b","device":0,"device_info":"NVIDIA H100"},
  {"rank":1,"group":0,"pid":11,"hostname":"node-a","device":0,"device_info":"NVIDIA H100"}]},
 "results":[
  {"size":8192,"count":2048,"type":"float","redop":"sum","root":"    -1",
   "out_of_place":{"time":35.15,"alg_bw":0.23,"bus_bw":0.24,"nwrong":0},
   "in_place":{"time":30.33,"alg_bw":"nan","bus_bw":0.28,"nwrong":null},"actual_iterations":20},
  {"size":16384,"count":4096,"type":"float","redop":"sum","root":"     3",
   "out_of_place":{"cpu_time":31,"alg_bw":0.52,"bus_bw":0.53,"nwrong":2.0},
   "in_place":{"time":30.75,"alg_bw":0.53,"bus_bw":0.54,"nwrong":0}}],
 "out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":0.41,"okay":"true"},
 "errors":[],"end_time":"2026-11-30 06:00:09"})";

Evidence evidence_of(std::string_view text) {
  return read_evidence("out.json", text);
}

BandwidthRun only(const Evidence& evidence) {
  EXPECT_EQ(evidence.kind, "nccl_tests_json");
  EXPECT_EQ(evidence.logs.size(), 1u);
  if (evidence.logs.empty() || evidence.logs[0].bandwidth_runs.size() != 1) return {};
  return evidence.logs[0].bandwidth_runs[0];
}

TEST(NcclTestsJson, WholeFile) {
  const Evidence evidence = evidence_of(kWhole);
  const BandwidthRun run = only(evidence);
  EXPECT_TRUE(evidence.problems.empty());
  EXPECT_EQ(evidence.logs[0].nccl_version, "2.30.7");
  EXPECT_FALSE(evidence.logs[0].empty());
  EXPECT_EQ(run.test, "all_reduce_perf");
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.hosts, (std::vector<std::string>{"node-a", "node-b"}));
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[0].bytes, 8192u);
  EXPECT_EQ(run.rows[0].elements, 2048u);
  EXPECT_EQ(run.rows[0].datatype, "float");
  EXPECT_EQ(run.rows[0].reduction, "sum");
  EXPECT_EQ(run.rows[0].root, -1);
  EXPECT_DOUBLE_EQ(run.rows[0].time_us[0], 35.15);
  EXPECT_DOUBLE_EQ(run.rows[0].algbw[1], -1) << "nan is a string, and no number";
  EXPECT_DOUBLE_EQ(run.rows[0].busbw[1], 0.28);
  EXPECT_EQ(run.rows[0].wrong[0], 0);
  EXPECT_EQ(run.rows[0].wrong[1], -1);
  EXPECT_EQ(run.rows[1].root, 3);
  EXPECT_DOUBLE_EQ(run.rows[1].time_us[0], 31);
  EXPECT_EQ(run.rows[1].wrong[0], 2);
  EXPECT_EQ(run.out_of_bounds, 0);
  EXPECT_DOUBLE_EQ(run.average_busbw, 0.41);
  EXPECT_TRUE(run.concluded);
  EXPECT_FALSE(run.cut_row);
  EXPECT_FALSE(run.without_mpi);
}

TEST(NcclTestsJson, EveryBeginningIsReadWithoutSecrets) {
  for (std::size_t size = 0; size <= kWhole.size(); ++size) {
    const std::string_view text = kWhole.substr(0, size);
    Evidence evidence;
    parse(text, evidence);
    for (const auto& problem : evidence.problems) EXPECT_EQ(problem.text.find("hunter2"), std::string::npos);
    for (const auto& log : evidence.logs) {
      ASSERT_EQ(log.bandwidth_runs.size(), 1u);
      EXPECT_EQ(log.bandwidth_runs[0].test.find("hunter2"), std::string::npos);
      EXPECT_LE(log.bandwidth_runs[0].rows.size(), 2u);
    }
  }
}

TEST(NcclTestsJson, RunThatDied) {
  const std::size_t second = kWhole.find("\"bus_bw\":0.53");
  const Evidence evidence = evidence_of(kWhole.substr(0, second));
  const BandwidthRun run = only(evidence);
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "truncated");
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(run.rows[0].busbw[1], 0.28);
  EXPECT_DOUBLE_EQ(run.rows[1].algbw[0], 0.52);
  EXPECT_DOUBLE_EQ(run.rows[1].busbw[0], -1);
  EXPECT_TRUE(run.cut_row);
  EXPECT_FALSE(run.concluded);
}

TEST(NcclTestsJson, WrongValuesAndProcessesWithoutMpi) {
  const BandwidthRun run = only(evidence_of(
      R"({"version":4,"start_time":"x","args":["sendrecv_perf"],"env":[],"config":{"ngpus":2,"nthreads":1,"devices":[
          {"rank":0,"pid":1,"hostname":"a"},{"rank":0,"pid":2,"hostname":"a"}]},"results":[],
          "out_of_bounds":{"count":7,"okay":"false"}})"));
  EXPECT_TRUE(run.without_mpi);
  EXPECT_EQ(run.out_of_bounds, 7);
  const Evidence two = evidence_of(
      R"({"version":4,"start_time":"x","args":["sendrecv_perf"],"config":{"ngpus":4,"nthreads":1,"devices":[
          {"rank":0,"pid":1,"hostname":"a"},{"rank":4,"pid":2,"hostname":"b"}]},"results":[]})");
  EXPECT_EQ(only(two).ranks, 8);
}

TEST(NcclTestsJson, OtherJsonIsNotTaken) {
  EXPECT_FALSE(sniff(R"({"version":"2.4","entries":[]})"));
  EXPECT_FALSE(sniff(R"({"args":[],"start_time":1,"version":2,"x":"_perf"})"));
  EXPECT_FALSE(sniff("version start_time args _perf"));
  EXPECT_TRUE(sniff(kWhole));
}

TEST(NcclTestsJson, DamagedIsAProblemAndNoCrash) {
  Evidence evidence;
  parse(R"({"version":3,"start_time":"x","args":["a_perf"]]})", evidence);
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "damaged");
  EXPECT_TRUE(evidence.logs.empty());
  Evidence deep;
  parse(std::string(100000, '['), deep);
  EXPECT_TRUE(deep.logs.empty());
}

TEST(OpenEnd, ClosesWhatIsWhole) {
  EXPECT_EQ(close_open_end(R"({"a":1,"b":[1,2)").text, R"({"a":1,"b":[1]})");
  EXPECT_EQ(close_open_end(R"({"a":"x\"y)").text, "{}");
  EXPECT_EQ(close_open_end(R"({"a":{"b":[]})").text, R"({"a":{"b":[]}})");
  EXPECT_FALSE(close_open_end(R"({"a":1} rest)").was_open);
  EXPECT_EQ(close_open_end(R"({"a":1} rest)").text, R"({"a":1})");
  EXPECT_EQ(close_open_end("{]").text, "");
}

}  // namespace
}  // namespace unhang::formats::nccl_tests
