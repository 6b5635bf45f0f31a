// SPDX-License-Identifier: Apache-2.0
#include "collect/capture.h"

#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using fixture::kStartNs;
using Status = model::SourceStatus;

class CaptureTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  CaptureTest() {
    x_settings.folder = x_bundle;
    x_settings.budget = 20s;
    x_settings.clock = x_steered;
    x_settings.stop = x_stop;
    x_settings.facts.host = "gpu-b07";
  }

  CaptureSource source(const std::string& id, std::function<SourceOutcome(CaptureContext&)> run) {
    return {id, "test", "path", "somewhere", std::move(run)};
  }
  static SourceOutcome keep(CaptureContext& context, const std::string& path) {
    EXPECT_TRUE(context.keep("bytes of " + path, {.path = path, .captured_ns = context.wall_ns()}));
    return {Status::kAnswered, {}, {}};
  }
  std::future<base::Result<CaptureResult>> start(std::vector<CaptureSource> sources) {
    return std::async(std::launch::async, [this, list = std::move(sources)]() mutable {
      return capture(x_settings, std::move(list));
    });
  }

  std::shared_ptr<fixture::SteeredClock> x_steered = std::make_shared<fixture::SteeredClock>();
  CaptureSettings x_settings;
};

TEST_F(CaptureTest, EndsWhenAllAreDone) {
  const auto result =
      capture(x_settings, {source("one", [](CaptureContext& context) { return keep(context, "one/a"); }),
                           source("two", [](CaptureContext&) -> SourceOutcome {
                             return {Status::kRefused, "connection refused", "2.28.9"};
                           })});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->anything);
  EXPECT_FALSE(result->interrupted);
  EXPECT_EQ(result->trouble, "");
  EXPECT_EQ(manifest_on_disk(), result->manifest);
  EXPECT_EQ(result->manifest.ended_ns, kStartNs);
  EXPECT_EQ(result->manifest.budget_ms, 20'000);
  ASSERT_EQ(result->manifest.sources.size(), 2u);
  EXPECT_EQ(result->manifest.sources[0].status, Status::kAnswered);
  EXPECT_EQ(result->manifest.sources[0].asked, "somewhere");
  EXPECT_EQ(result->manifest.sources[0].files.size(), 1u);
  EXPECT_EQ(result->manifest.sources[1].status, Status::kRefused);
  EXPECT_EQ(result->manifest.sources[1].reason, "connection refused");
  EXPECT_EQ(result->manifest.sources[1].nccl_version, "2.28.9");
}

TEST_F(CaptureTest, ASourceThatNeverEndsCostsTheOthersNothing) {
  const auto gate = std::make_shared<std::promise<void>>();
  const auto late = std::make_shared<std::promise<bool>>();
  const auto first = std::make_shared<std::promise<void>>();
  auto running =
      start({source("stuck",
                    [gate, late, first](CaptureContext& context) -> SourceOutcome {
                      keep(context, "stuck/first");
                      first->set_value();
                      gate->get_future().wait();
                      late->set_value(static_cast<bool>(context.keep("x", {.path = "stuck/late"})));
                      return {Status::kAnswered, {}, {}};
                    }),
             source("good", [](CaptureContext& context) {
               EXPECT_TRUE(context.wait_until(context.now() + 5s));
               return keep(context, "good/a");
             })});
  x_steered->await_waiters(2);
  first->get_future().wait();
  x_steered->advance(5s);
  x_steered->await_waiters(1);
  while (manifest_on_disk().sources[1].status != Status::kAnswered) std::this_thread::yield();
  x_steered->advance(14s);
  EXPECT_EQ(running.wait_for(0s), std::future_status::timeout) << "its time is not over";
  while (running.wait_for(1ms) != std::future_status::ready) x_steered->advance(1s);
  const auto result = running.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->anything);
  EXPECT_EQ(result->manifest.sources[0].status, Status::kSilent);
  EXPECT_EQ(result->manifest.sources[0].reason, "the capture ended before this was done");
  EXPECT_EQ(result->manifest.sources[0].files.size(), 1u) << "what it gave before is kept";
  EXPECT_EQ(result->manifest.sources[1].status, Status::kAnswered);
  EXPECT_EQ(result->manifest.sources[1].elapsed_ms, 5000);
  const auto before = manifest_on_disk();
  gate->set_value();
  EXPECT_FALSE(late->get_future().get()) << "the bundle is closed";
  EXPECT_EQ(manifest_on_disk(), before);
}

TEST_F(CaptureTest, StopEndsItWithAWholeManifest) {
  auto running = start({source("one", [](CaptureContext& context) -> SourceOutcome {
    keep(context, "one/a");
    const bool waited = context.wait_until(context.now() + 10s);
    EXPECT_FALSE(waited);
    EXPECT_TRUE(context.stopping());
    return {Status::kPartial, "stopped after the first", {}};
  })});
  x_steered->await_waiters(2);
  x_stop->request();
  const auto result = running.get();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->interrupted);
  EXPECT_TRUE(result->anything);
  EXPECT_TRUE(manifest_on_disk().interrupted);
  EXPECT_EQ(manifest_on_disk().sources[0].status, Status::kPartial);
  EXPECT_TRUE(manifest_on_disk().ended_ns);
}

TEST_F(CaptureTest, NoSourceWaitsBeyondTheEnd) {
  const auto result = capture(x_settings, {source("one", [](CaptureContext& context) -> SourceOutcome {
                                EXPECT_EQ(context.deadline() - context.now(), 19'500ms);
                                EXPECT_FALSE(context.wait_until(context.now() + 19'500ms));
                                EXPECT_FALSE(context.stopping());
                                return {Status::kMissing, "nothing there", {}};
                              })});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->anything);
}

TEST_F(CaptureTest, AnExceptionIsAnOutcome) {
  const auto result = capture(
      x_settings, {source("bad", [](CaptureContext&) -> SourceOutcome { throw std::runtime_error("boom"); }),
                   source("good", [](CaptureContext& context) { return keep(context, "a"); })});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->manifest.sources[0].status, Status::kFailed);
  EXPECT_EQ(result->manifest.sources[0].reason, "boom");
  EXPECT_EQ(result->manifest.sources[1].status, Status::kAnswered);
}

TEST_F(CaptureTest, RefusesAFolderWithSomethingInIt) {
  put("bundle/x", "x");
  bool asked = false;
  const auto result = capture(x_settings, {source("one", [&](CaptureContext&) {
                                asked = true;
                                return SourceOutcome{};
                              })});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::kUsage);
  EXPECT_FALSE(asked);
}

// "a" is a file, so nothing can be written below it: as with a full disk, whoever runs the tests.
TEST_F(CaptureTest, WhatCannotBeWrittenIsNoRefusal) {
  const auto result = capture(x_settings, {source("one", [](CaptureContext& context) -> SourceOutcome {
                                keep(context, "a");
                                const auto kept =
                                    context.keep("more", {.path = "a/b", .captured_ns = context.wall_ns()});
                                EXPECT_FALSE(kept);
                                return {Status::kRefused, kept.error().message, {}};
                              })});
  ASSERT_TRUE(result);
  EXPECT_NE(result->trouble.find("a/b"), std::string::npos) << result->trouble;
  EXPECT_EQ(result->manifest.sources[0].status, Status::kFailed);
  EXPECT_EQ(result->manifest.sources[0].files.size(), 1u);
}

}  // namespace
}  // namespace unhang::collect
