// SPDX-License-Identifier: Apache-2.0
//
// What a manifest says of a file decides whether the file is evidence.
#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "join/join.h"

namespace unhang::join {
namespace {

constexpr const char* kKilled =
    "2026-02-18T08:50:00.000000+00:00 node1 kernel: Out of memory: Killed process 4242 (python) "
    "total-vm:1kB, "
    "anon-rss:1kB, file-rss:0kB, shmem-rss:0kB\n";

model::Case joined(bool stale) {
  std::vector<formats::Evidence> batch;
  formats::Evidence& manifest = batch.emplace_back();
  manifest.path = "b/manifest.json";
  model::BundleManifest& bundle = manifest.bundles.emplace_back();
  model::BundleSource& source = bundle.sources.emplace_back();
  source.kind = "kernel_log";
  source.files.push_back({.path = "kernel/0.log", .captured_ns = 1'771'404'600'000'000'000, .stale = stale});
  source.files.push_back({.path = "kernel/1.log", .captured_ns = 1'771'404'600'000'000'000});
  batch.push_back(formats::read_evidence("b/kernel/0.log", kKilled));
  batch.push_back(formats::read_evidence("b/kernel/1.log", std::string(40, 'x') + "\n"));
  batch.push_back(formats::read_evidence("b/other.log", std::string(40, 'x') + "\n"));
  CaseBuilder builder(1);
  builder.add(std::move(batch));
  return builder.finish({});
}

std::string codes(const model::Case& result, std::size_t input) {
  std::string out;
  for (const auto& problem : result.inputs[input].problems) out += problem.code + " ";
  return out;
}

TEST(CapturedFiles, WhatIsOlderThanTheJobIsNoEvidence) {
  EXPECT_EQ(joined(false).logs.events.size(), 1u);
  const model::Case result = joined(true);
  EXPECT_TRUE(result.logs.events.empty());
  EXPECT_EQ(codes(result, 1), "older_than_the_job ");
}

TEST(CapturedFiles, ADumpThatIsOlderThanItsProcessIsOfAnEarlierRun) {
  for (const bool stale : {false, true}) {
    std::vector<formats::Evidence> batch;
    formats::Evidence& manifest = batch.emplace_back();
    manifest.path = "b/manifest.json";
    model::BundleSource& source = manifest.bundles.emplace_back().sources.emplace_back();
    source.kind = "flight_recorder";
    source.files.push_back(
        {.path = "dumps/trace_rank_0", .captured_ns = 1'771'404'600'000'000'000, .stale = stale});
    formats::Evidence& dump = batch.emplace_back();
    dump.path = "b/dumps/trace_rank_0";
    dump.kind = "flight_recorder_pickle";
    dump.dumps.emplace_back();
    CaseBuilder builder(1);
    builder.add(std::move(batch));
    const model::Case result = builder.finish({});
    EXPECT_EQ(result.has_dumps, !stale);
    ASSERT_EQ(result.set_aside.size(), stale ? 1u : 0u);
    if (stale) {
      EXPECT_NE(result.set_aside[0].reason.find("an earlier run left it"), std::string::npos);
    }
  }
}

TEST(CapturedFiles, WhatACaptureKeptIsNoStrayFile) {
  const model::Case result = joined(false);
  EXPECT_EQ(codes(result, 2), "");
  EXPECT_EQ(codes(result, 3), "not_recognised ");
}

}  // namespace
}  // namespace unhang::join
