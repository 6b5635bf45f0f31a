// SPDX-License-Identifier: Apache-2.0
//
// The documents in tests/schema/samples are what the program prints; tests/schema/validate.py holds them to
// the schema. UNHANG_UPDATE_GOLDEN=1 writes them anew.
#include "report/json.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "report/sample_verdicts_for_tests.h"

namespace unhang::report {
namespace {

std::vector<model::Input> inputs() {
  return {{"a/dump_1",
           "flight_recorder_pickle",
           {{model::Severity::kDataLoss, "truncated", "the file ends inside an entry", 812, 300},
            {model::Severity::kInfo, "duplicate", "same content as b/dump_1", {}, 0}}},
          {"old/dump_9", "flight_recorder_json", {}}};
}

std::string rendered(const model::Verdict& verdict) {
  return render_json(verdict, inputs(), {{1, "another job"}});
}

void expect_same_as_file(const std::string& name, const model::Verdict& verdict) {
  const std::string path = std::string(UNHANG_SOURCE_DIR) + "/tests/schema/samples/" + name + ".json";
  std::string text = rendered(verdict);
  const std::string version = "\"version\":\"" UNHANG_VERSION "\"";
  const std::size_t at = text.find(version);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, version.size(), "\"version\":\"0.0.0\"");
  if (std::getenv("UNHANG_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

TEST(Json, SamplesAreTheCommittedDocuments) {
  expect_same_as_file("rank_silent", samples::rank_silent());
  expect_same_as_file("healthy", samples::healthy());
  expect_same_as_file("inconclusive", samples::inconclusive());
  expect_same_as_file("straggler", samples::straggler());
  expect_same_as_file("hostile", samples::hostile());
  model::Verdict full = samples::straggler();
  full.root = "host_blocked";
  full.victims = {samples::rank_subject(0, "")};
  full.timeline = {{"2026-11-29T14:01:57.000000123Z", "host", "gpu-b07", "clock dropped", {0}}};
  full.progress = {{"engine_tokens", "instance", false, "not asked", ""},
                   {"fr_sequence", "group", true, "", "2026-11-29T14:01:57Z"}};
  full.clocks = {{"gpu-b07", -5, 7, "none"}};
  full.stacks = {{{3}, "culprit", {{"step", "train.py", 12, true}}}};
  full.where.stack = full.stacks[0].frames;
  full.alternatives = {{model::Category::kHealthy, "unknown", {"a"}, {"b"}, "c"}};
  model::Subject pair;
  pair.kind = model::SubjectKind::kPair;
  pair.rank = 2;
  pair.peer = 3;
  pair.pid = 4711;
  pair.gpu = "GPU-1234";
  pair.nic = "mlx5_0";
  pair.group = "tp";
  pair.group_rank = 1;
  full.suspects = {pair};
  full.findings = {{"slow-1",
                    full.category,
                    full.cause,
                    full.confidence,
                    "last in 96 of 100",
                    full.culprits,
                    {0},
                    {"network"}}};
  full.recovery.environment = "slurm";
  full.recovery.retest = {"gpu-b07"};
  full.history = {{"gpu-b07/mlx5_0", 3, 14, "old/1.json", "straggler_rank"}};
  expect_same_as_file("full", full);
}

TEST(Json, KeysStandInTheOrderOfTheSchema) {
  const std::string text = rendered(samples::rank_silent());
  std::size_t last = 0;
  for (const std::string_view key :
       {"schema",       "tool",     "inputs",       "verdict",  "culprits", "suspects", "victims", "where",
        "blast_radius", "findings", "alternatives", "evidence", "progress", "timeline", "times",   "not_seen",
        "recovery",     "history",  "coverage",     "clocks",   "stacks",   "exit_code"}) {
    const std::size_t at = text.find("\n\"" + std::string(key) + "\": ");
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_GE(at, last) << key;
    last = at;
  }
}

TEST(Json, BrokenTextIsReplacedAndLongEvidenceCut) {
  model::Verdict verdict = samples::rank_silent();
  verdict.headline = "bad \xff byte";
  verdict.evidence[0].text = std::string(199, 'x') + "üyz";
  verdict.evidence[1].text = std::string(100000, '\x80');
  const std::string text = rendered(verdict);
  EXPECT_NE(text.find("\"headline\":\"bad \xef\xbf\xbd byte\""), std::string::npos);
  EXPECT_NE(text.find("\"text\":\"" + std::string(199, 'x') + "ü\""), std::string::npos);
  EXPECT_LT(text.size(), 10000u);
}

TEST(Json, TimesThatAreNoneAreNull) {
  model::Verdict verdict = samples::rank_silent();
  for (const std::string_view bad : {"yesterday", "2026-11-29T14:01:57", "2026-11-29T14:01:57.Z",
                                     "2026-11-29T14:01:57+01:00", "2026-11-29 14:01:57Z"}) {
    verdict.timeline = {{std::string(bad), "host", "", "x", {}}};
    EXPECT_NE(rendered(verdict).find("{\"time\":null,\"clock\":\"host\""), std::string::npos) << bad;
  }
  verdict.timeline = {{"2026-11-29T14:01:57.123456789Z", "host", "", "x", {}}};
  EXPECT_NE(rendered(verdict).find("{\"time\":\"2026-11-29T14:01:57.123456789Z\""), std::string::npos);
}

TEST(Json, ExitCodeFollowsTheVerdict) {
  EXPECT_NE(rendered(samples::rank_silent()).find("\"exit_code\": 2\n"), std::string::npos);
  EXPECT_NE(rendered(samples::straggler()).find("\"exit_code\": 1\n"), std::string::npos);
  EXPECT_NE(rendered(samples::healthy()).find("\"exit_code\": 0\n"), std::string::npos);
}

}  // namespace
}  // namespace unhang::report
