// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/bundle_manifest.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats::bundle {
namespace {

const std::string kSha(64, 'a');

const std::string kManifest = R"({
  "schema": "unhang.bundle/1",
  "tool": {"name": "unhang", "version": "0.1.0"},
  "started": "2026-11-29T15:01:29.000000000Z",
  "ended": "2026-11-29T15:01:39.250000000Z",
  "interrupted": true,
  "host": "gpu-b07",
  "instance": "i-7f2",
  "deployment": "v41",
  "labels": {"team": "serving", "cell": "a"},
  "budget_ms": 25000,
  "sources": [
    {"id": "ras-1", "kind": "ras", "asked": {"address": "127.0.0.1:28028"}, "status": "partial",
     "reason": "1 of 3 answers came", "started": "2026-11-29T15:01:29Z", "elapsed_ms": 9000,
     "nccl_version": "2.28.9",
     "files": [{"path": "ras/000.json", "captured": "2026-11-29T15:01:29.123Z", "bytes": 10, "sha256": ")" +
                              kSha + R"("}]},
    {"id": "dumps", "kind": "flight_recorder", "asked": {"search": "prefixes"}, "status": "answered",
     "files": [{"path": "flight_recorder/gpu-b07-412/nccl_trace_rank_3", "bytes": 7, "sha256": ")" +
                              kSha + R"(",
                "original_path": "/tmp/nccl_trace_rank_3", "modified": "2026-11-29T15:00:00Z", "pid": 412,
                "note": "n", "stale": true, "growing": true, "cut": true}]}
  ],
  "processes": [{"pid": 88121, "namespace_pids": [88121, 412], "name": "python3",
                 "started": "2026-11-29T14:00:00Z", "nccl_version": "2.28.9", "environment": {"RANK": "3"}}],
  "redaction": {"anything": 1}
})";

std::vector<std::string> codes(const Evidence& evidence) {
  std::vector<std::string> out;
  for (const auto& problem : evidence.problems) out.push_back(problem.code);
  return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(BundleManifest, ReadsAll) {
  const Evidence evidence = read_evidence("bundle/manifest.json", kManifest);
  EXPECT_EQ(evidence.kind, "bundle_manifest");
  EXPECT_TRUE(evidence.problems.empty());
  ASSERT_EQ(evidence.bundles.size(), 1u);
  constexpr std::int64_t kStart = 1795964489'000'000'000;
  model::BundleManifest wanted;
  wanted.tool_version = "0.1.0";
  wanted.started_ns = kStart;
  wanted.ended_ns = kStart + 10'250'000'000;
  wanted.interrupted = true;
  wanted.host = "gpu-b07";
  wanted.instance = "i-7f2";
  wanted.deployment = "v41";
  wanted.labels = {{"cell", "a"}, {"team", "serving"}};
  wanted.budget_ms = 25000;
  model::BundleSource ras;
  ras.id = "ras-1";
  ras.kind = "ras";
  ras.asked_kind = "address";
  ras.asked = "127.0.0.1:28028";
  ras.status = model::SourceStatus::kPartial;
  ras.reason = "1 of 3 answers came";
  ras.started_ns = kStart;
  ras.elapsed_ms = 9000;
  ras.nccl_version = "2.28.9";
  ras.files.resize(1);
  ras.files[0].path = "ras/000.json";
  ras.files[0].captured_ns = kStart + 123'000'000;
  ras.files[0].bytes = 10;
  ras.files[0].sha256 = kSha;
  model::BundleSource dumps;
  dumps.id = "dumps";
  dumps.kind = "flight_recorder";
  dumps.asked_kind = "search";
  dumps.asked = "prefixes";
  dumps.status = model::SourceStatus::kAnswered;
  dumps.files.resize(1);
  dumps.files[0].path = "flight_recorder/gpu-b07-412/nccl_trace_rank_3";
  dumps.files[0].bytes = 7;
  dumps.files[0].sha256 = kSha;
  dumps.files[0].original_path = "/tmp/nccl_trace_rank_3";
  dumps.files[0].modified_ns = kStart - 89'000'000'000;
  dumps.files[0].pid = 412;
  dumps.files[0].note = "n";
  dumps.files[0].stale = dumps.files[0].growing = dumps.files[0].cut = true;
  wanted.sources = {ras, dumps};
  wanted.processes = {
      {88121, {88121, 412}, "python3", kStart - 3'689'000'000'000, "2.28.9", {{"RANK", "3"}}}};
  EXPECT_EQ(evidence.bundles[0], wanted);
}

TEST(BundleManifest, HowTheCommandEnded) {
  const auto with = [](const std::string& command) {
    return read_evidence("m",
                         replaced(kManifest, "\"budget_ms\"", "\"command\": " + command + ", \"budget_ms\""));
  };
  const Evidence killed = with(
      R"({"pid": 412, "ran_ms": 1500, "ended": true, "signal": 9, "core_dumped": true, "oom_kills": 1})");
  ASSERT_EQ(killed.bundles.size(), 1u);
  EXPECT_TRUE(killed.problems.empty());
  EXPECT_EQ(killed.bundles[0].command, (model::BundleCommand{412, 1500, true, -1, 9, true, 1}));
  EXPECT_EQ(with(R"({"pid": 412, "ended": true, "status": 3})").bundles[0].command,
            (model::BundleCommand{412, 0, true, 3, 0, false, {}}));
  EXPECT_FALSE(with(R"({"ended": false})").bundles[0].command->ended);
  for (const char* wrong : {R"({"ended": true})", R"({"ended": true, "status": 4000, "signal": -3})"}) {
    const Evidence evidence = with(wrong);
    EXPECT_EQ(codes(evidence), (std::vector<std::string>{"bad_command"})) << wrong;
    EXPECT_FALSE(evidence.bundles[0].command);
  }
  EXPECT_FALSE(with("[]").bundles[0].command);
}

TEST(BundleManifest, SaysThatACaptureWasCutShort) {
  const Evidence evidence =
      read_evidence("m", replaced(kManifest, "\"2026-11-29T15:01:39.250000000Z\"", "null"));
  EXPECT_EQ(codes(evidence), (std::vector<std::string>{"unfinished"}));
  ASSERT_EQ(evidence.bundles.size(), 1u);
  EXPECT_EQ(evidence.bundles[0].ended_ns, std::nullopt);
  EXPECT_EQ(evidence.bundles[0].sources.size(), 2u);
}

TEST(BundleManifest, ALaterFormIsReadAsFarAsItIsKnown) {
  const Evidence evidence = read_evidence("m", replaced(kManifest, "unhang.bundle/1", "unhang.bundle/2"));
  EXPECT_EQ(codes(evidence), (std::vector<std::string>{"newer_schema"}));
  ASSERT_EQ(evidence.bundles.size(), 1u);
  EXPECT_EQ(evidence.bundles[0].host, "gpu-b07");
}

TEST(BundleManifest, FilesOutsideTheBundleAreNotListed) {
  const Evidence evidence = read_evidence("m", replaced(kManifest, "ras/000.json", "ras/../../etc/shadow"));
  EXPECT_EQ(codes(evidence), (std::vector<std::string>{"bad_path"}));
  ASSERT_EQ(evidence.bundles.size(), 1u);
  EXPECT_TRUE(evidence.bundles[0].sources[0].files.empty());
  EXPECT_EQ(evidence.bundles[0].sources[1].files.size(), 1u);
}

TEST(BundleManifest, AStatusOrHashThatIsNoneIsSaid) {
  const Evidence evidence =
      read_evidence("m", replaced(replaced(kManifest, "\"partial\"", "\"splendid\""), kSha, "A" + kSha));
  EXPECT_EQ(codes(evidence), (std::vector<std::string>{"bad_status", "bad_hash"}));
  ASSERT_EQ(evidence.bundles.size(), 1u);
  EXPECT_EQ(evidence.bundles[0].sources[0].status, model::SourceStatus::kFailed);
  EXPECT_EQ(evidence.bundles[0].sources[0].files[0].sha256, "");
}

TEST(BundleManifest, ValuesOfAnotherTypeAreNotThere) {
  const Evidence evidence = read_evidence(
      "m", R"({"schema":"unhang.bundle/1","tool":3,"ended":"2026-11-29T15:01:29Z","host":7,"labels":[1],
               "sources":[4,{"id":5,"status":"silent","asked":"x","files":{"a":1}}],"processes":"many"})");
  EXPECT_TRUE(evidence.problems.empty());
  ASSERT_EQ(evidence.bundles.size(), 1u);
  EXPECT_EQ(evidence.bundles[0].host, "");
  ASSERT_EQ(evidence.bundles[0].sources.size(), 1u);
  EXPECT_EQ(evidence.bundles[0].sources[0].status, model::SourceStatus::kSilent);
}

// Cut anywhere, it is still known for what it was meant to be, and said to be damaged.
TEST(BundleManifest, ACutOneIsDamaged) {
  for (std::size_t size = 40; size + 1 < kManifest.size(); size += 7) {
    const Evidence evidence = read_evidence("m", kManifest.substr(0, size));
    EXPECT_EQ(evidence.kind, "bundle_manifest") << size;
    EXPECT_EQ(codes(evidence), (std::vector<std::string>{"damaged"})) << size;
    EXPECT_TRUE(evidence.bundles.empty()) << size;
  }
}

TEST(BundleManifest, OtherJsonIsLeftToOthers) {
  EXPECT_FALSE(sniff_manifest(R"({"version":"2.4","entries":[]})"));
  EXPECT_FALSE(sniff_manifest(R"({"schema":"unhang.verdict/1"})"));
  EXPECT_FALSE(sniff_manifest(R"(["schema","unhang.bundle/1"])"));
  EXPECT_FALSE(sniff_manifest(R"({"text":"\"schema\" unhang.bundle/1"})"));
  EXPECT_FALSE(sniff_manifest("{\"schema\":"));
  EXPECT_FALSE(sniff_manifest(""));
}

TEST(BundleManifest, WhatIsInside) {
  for (const char* path : {"a", "a/b", "..a/b..", "a b/\xc3\xa4"}) EXPECT_TRUE(is_inside(path)) << path;
  for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\nb", "a\\b"})
    EXPECT_FALSE(is_inside(path)) << path;
}

}  // namespace
}  // namespace unhang::formats::bundle
