// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/json_ending.h"
#include "formats/flight_recorder/sample_dump_for_tests.h"

namespace unhang::formats::flight_recorder {
namespace {

TEST(JsonEnding, WholeTextsAreNotCut) {
  for (const char* json : {"{}", "[]", "{\"a\":[{},{}]}", "{\"a\":\"[\\\"{\"}", "", "[1] ", "}"}) {
    EXPECT_FALSE(is_cut(json)) << json;
    EXPECT_EQ(closed_prefix(json), "") << json;
  }
}

TEST(JsonEnding, CutsBackToTheLastWholeEntry) {
  EXPECT_EQ(closed_prefix(R"({"entries":[{"a":[1]},{"b":2},{"c)"), R"({"entries":[{"a":[1]},{"b":2}]})");
  EXPECT_EQ(closed_prefix(R"({"entries":[{"a":[1]},{"b":[2])"), R"({"entries":[{"a":[1]}]})");
  EXPECT_EQ(closed_prefix(R"([{"a":[1]},{"b":[2])"), R"([{"a":[1]}])");
  EXPECT_EQ(closed_prefix(R"({"entries":[{"a":"}]\"}"},{)"), R"({"entries":[{"a":"}]\"}"}]})");
  EXPECT_EQ(closed_prefix(R"({"pg_status":{"0":{"x":"1"},"1)"), R"({"pg_status":{"0":{"x":"1"}}})");
  EXPECT_EQ(closed_prefix(R"({"entries":[{"a":1)"), "");
  EXPECT_TRUE(is_cut(R"({"entries":[{"a":1)"));
}

TEST(Json, CutAnywhereKeepsTheWholeEntries) {
  JsonWriter writer;
  const std::string whole = writer.write(sample_dump(5, true));
  const std::vector<std::string> expected = operation_texts(read_evidence("d_0", whole).dumps.at(0));
  ASSERT_EQ(expected.size(), 5u);
  for (std::size_t cut = whole.find("pg_config") + 10; cut < whole.size(); ++cut) {
    const Evidence evidence = read_evidence("d_0", whole.substr(0, cut));
    ASSERT_EQ(problem_codes(evidence), "truncated") << cut;
    std::size_t entries = 0;
    while (entries < 5 && writer.entry_ends[entries] <= cut) ++entries;
    if (evidence.dumps.empty()) {
      ASSERT_EQ(entries, 0u) << cut;
      continue;
    }
    ASSERT_FALSE(evidence.dumps[0].complete) << cut;
    ASSERT_EQ(
        operation_texts(evidence.dumps[0]),
        std::vector<std::string>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(entries)))
        << cut;
  }
}

TEST(Json, ValuesOfAnotherTypeAreReadOver) {
  const Evidence evidence = read_evidence("d_0", R"({"version":"2.10","entries":[
      {"record_id":"7","profiling_name":"nccl:all_reduce","state":3,"retired":"x","input_sizes":"no","op_id":1e9,
       "time_created_ns":99999999999999999999,"process_group":{"a":[1]},"collective_seq_id":null,"duration_ms":"x"},
      {"record_id":8,"profiling_name":null,"collective_seq_id":5},3,[],"x"]})");
  EXPECT_EQ(problem_codes(evidence), "");
  ASSERT_EQ(evidence.dumps.size(), 1u);
  ASSERT_EQ(evidence.dumps[0].operations.size(), 2u);
  EXPECT_EQ(evidence.dumps[0].operations[0].record_id, 7);
  EXPECT_EQ(evidence.dumps[0].operations[0].created_ns, 0);
  EXPECT_EQ(evidence.dumps[0].operations[0].collective_sequence, -1);
  EXPECT_EQ(evidence.dumps[0].operations[1].collective_sequence, 5);
}

TEST(Json, DamageInTheMiddleKeepsWhatStandsBefore) {
  const Evidence evidence =
      read_evidence("d_0", R"({"entries":[{"record_id":1,"profiling_name":"nccl:barrier"},
      {"record_id":2,"profiling_name"  "nccl:barrier"},{"record_id":3,"profiling_name":"nccl:barrier"}]})");
  EXPECT_EQ(problem_codes(evidence), "damaged");
  ASSERT_EQ(evidence.dumps.size(), 1u);
  EXPECT_FALSE(evidence.dumps[0].complete);
  ASSERT_EQ(evidence.dumps[0].operations.size(), 1u);
  EXPECT_EQ(evidence.dumps[0].operations[0].record_id, 1);
}

TEST(Json, ForeignTextsAreIgnored) {
  EXPECT_EQ(problem_codes(read_evidence("x", "{\"a\":1}")), "not_recognised");
  EXPECT_EQ(problem_codes(read_evidence("x", "{\"note\":\"collective_seq_id\",\"collective_seq_id\":1}")),
            "foreign_json");
  EXPECT_EQ(problem_codes(read_evidence("x", "")), "empty");
}

TEST(Json, DeepNestingIsNoTrouble) {
  const std::string deep = "{\"pg_config\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_TRUE(read_evidence("x", deep).dumps.empty());
  EXPECT_FALSE(read_evidence("x", deep).problems.empty());
}

}  // namespace
}  // namespace unhang::formats::flight_recorder
