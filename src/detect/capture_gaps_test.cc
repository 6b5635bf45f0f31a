// SPDX-License-Identifier: Apache-2.0
//
// What a capture asked in vain is named as not seen, but only where something was there to be asked.
#include <gtest/gtest.h>

#include "detect/log_case_for_tests.h"

namespace unhang::detect {
namespace {

using Status = model::SourceStatus;

model::Case captured(std::vector<model::BundleSource> sources) {
  model::Case joined;
  model::BundleManifest bundle;
  bundle.host = "gpu-b07";
  bundle.sources = std::move(sources);
  joined.bundles.push_back(std::move(bundle));
  return joined;
}

// What is said of sources.
std::vector<std::string> of_sources(const model::Verdict& verdict) {
  std::vector<std::string> out;
  for (const std::string& line : verdict.not_seen) {
    if (line.ends_with(" (captured on gpu-b07)")) out.push_back(line);
  }
  return out;
}

TEST(CaptureGaps, RasAndDumpsShouldHaveBeenThere) {
  const auto verdict =
      diagnose(captured({{.id = "ras-1", .kind = "ras", .asked = "h:1", .status = Status::kMissing},
                         {.id = "flight-recorder", .kind = "flight_recorder"},
                         {.id = "processes", .kind = "processes", .status = Status::kFailed}}));
  EXPECT_EQ(of_sources(verdict),
            (std::vector<std::string>{"RAS at h:1: missing (captured on gpu-b07)",
                                      "Flight Recorder dumps: missing (captured on gpu-b07)"}));
  EXPECT_EQ(verdict.headline, "the capture got no answer from the job: neither RAS, an engine nor a dump");
}

TEST(CaptureGaps, WhatIsNotInstalledIsNothingThatWasNotSeen) {
  const auto verdict = diagnose(captured(
      {{.id = "gpu", .kind = "gpu", .status = Status::kMissing, .reason = "no driver"},
       {.id = "stacks", .kind = "stacks", .status = Status::kPartial, .reason = "py-spy: not installed"},
       {.id = "nic", .kind = "nic", .status = Status::kAnswered},
       {.id = "kernel-log", .kind = "kernel_log", .status = Status::kRefused, .reason = "no permission"},
       {.id = "scheduler", .kind = "scheduler", .status = Status::kSilent}}));
  EXPECT_EQ(of_sources(verdict),
            (std::vector<std::string>{"the kernel's log: refused, no permission (captured on gpu-b07)",
                                      "the scheduler: silent (captured on gpu-b07)"}));
}

TEST(CaptureGaps, AKernelLogThatWasCapturedWasSeen) {
  const auto names_it = [](bool captured_it) {
    LogCase c;
    c.says(model::LogEventKind::kOtherWarning, {.detail = "x"});
    model::Case joined = c.joined();
    model::BundleSource source{.id = "kernel-log", .kind = "kernel_log", .status = Status::kAnswered};
    if (captured_it) source.files.push_back({.path = "kernel/x.log"});
    joined.bundles.emplace_back().sources = {source};
    const auto verdict = diagnose(joined);
    return std::any_of(verdict.not_seen.begin(), verdict.not_seen.end(),
                       [](const std::string& line) { return line.starts_with("the kernel's log: an Xid"); });
  };
  EXPECT_TRUE(names_it(false));
  EXPECT_FALSE(names_it(true));
}

}  // namespace
}  // namespace unhang::detect
