// SPDX-License-Identifier: Apache-2.0
#include "formats/verdict_document/verdict_document.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats::verdict_document {
namespace {

std::string sample(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(UNHANG_SOURCE_DIR) + "/tests/schema/samples/" + name + ".json").rdbuf();
  return text.str();
}

TEST(VerdictDocument, ReadsWhatTheProgramWrites) {
  const std::string text = sample("full");
  ASSERT_TRUE(sniff(text));
  const auto read = read_verdict("old/full.json", text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->file, "old/full.json");
  EXPECT_EQ(read->category, "performance_degradation");
  EXPECT_EQ(read->cause, "straggler_rank");
  ASSERT_EQ(read->culprits.size(), 1u);
  EXPECT_EQ(read->culprits[0].rank, 3);
  EXPECT_EQ(read->culprits[0].host, "gpu-b07");
  ASSERT_EQ(read->suspects.size(), 1u);
  EXPECT_EQ(read->suspects[0].kind, model::SubjectKind::kPair);
  EXPECT_EQ(read->suspects[0].peer, 3);
  EXPECT_EQ(read->suspects[0].nic, "mlx5_0");
  EXPECT_EQ(read->group, "default_pg (0)");
  EXPECT_EQ(read->stalled_since, "2026-11-29T14:01:57.000000123Z");
}

TEST(VerdictDocument, TheStallIsTheTimeWhereItIsStated) {
  const auto read = read_verdict(
      "v", R"({"schema":"unhang.verdict/1","verdict":{"category":"transport_stall","cause":"link_down"},)"
           R"("times":{"first_anomaly":"2026-11-01T09:00:00Z","stalled_since":"2026-11-01T10:00:00Z"},)"
           R"("timeline":[{"time":"2026-11-01T08:00:00Z"}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stalled_since, "2026-11-01T10:00:00Z");
}

TEST(VerdictDocument, RefusesWhatIsNoVerdict) {
  for (const char* text :
       {"", "{}", "[1]", R"({"schema":"unhang.bundle/1"})", R"({"schema":"unhang.verdict/1"})",
        R"({"schema":"unhang.verdict/1","verdict":{"category":"healthy"}})",
        R"({"schema":"unhang.verdict/1","verdict":{"category":"healthy","cause":"unknown"})"})
    EXPECT_FALSE(read_verdict("v", text)) << text;
}

TEST(VerdictDocument, OtherTypesAndLaterKindsAreNotThere) {
  const auto read = read_verdict(
      "v",
      R"({"schema":"unhang.verdict/2","verdict":{"category":"transport_stall","cause":"link_down"},)"
      R"("culprits":[{"kind":"switch","host":"s1"},{"kind":"rank","rank":-4,"host":7},5],"suspects":{},)"
      R"("where":{"ordinal":"x"},"times":{"stalled_since":"yesterday"},"blast_radius":{"instances":["a",1]}})");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->culprits.size(), 1u);
  EXPECT_FALSE(read->culprits[0].rank);
  EXPECT_EQ(read->culprits[0].host, "");
  EXPECT_EQ(read->ordinal, -1);
  EXPECT_EQ(read->stalled_since, "");
  EXPECT_EQ(read->instances, std::vector<std::string>{"a"});
}

TEST(VerdictDocument, ACrowdIsCut) {
  std::string text =
      R"({"schema":"unhang.verdict/1","verdict":{"category":"transport_stall","cause":"link_down"},)"
      R"("culprits":[)";
  for (int i = 0; i < 5000; ++i) text += std::string(i == 0 ? "" : ",") + R"({"kind":"rank","rank":1})";
  const auto read = read_verdict("v", text + "]}");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->culprits.size(), 4096u);
}

TEST(VerdictDocument, AmongEvidenceItIsPassedOver) {
  const Evidence evidence = read_evidence("dumps/verdict.json", sample("rank_silent"));
  EXPECT_EQ(evidence.kind, "verdict_document");
  EXPECT_TRUE(evidence.logs.empty());
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "earlier_verdict");
}

}  // namespace
}  // namespace unhang::formats::verdict_document
