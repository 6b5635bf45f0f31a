// SPDX-License-Identifier: Apache-2.0
#include "collect/engine_source.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using Status = model::SourceStatus;

class EngineSourceTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  static EngineReply answer(const std::string& page, int health) {
    EngineReply reply;
    reply.page = page;
    reply.health = health;
    return reply;
  }
  SourceOutcome run(PollEngine poll) {
    return run_alone(engine_source(
        "engine-1", "http://node3:8000/metrics", x_sampling,
        [this, poll = std::move(poll)](std::chrono::nanoseconds timeout) {
          ++x_polls;
          return poll(timeout);
        },
        std::make_shared<CaptureNames>()));
  }

  CaptureSampling x_sampling{2, 4s};
  int x_polls = 0;
};

TEST_F(EngineSourceTest, KeepsMetricsAndHealth) {
  const auto outcome = run([](std::chrono::nanoseconds) { return answer("vllm:x 1\n", 200); });
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(files_on_disk(),
            (std::vector<std::string>{"engine/000-20261129T150129.000Z-node3_8000-metrics.txt",
                                      "engine/001-20261129T150129.000Z-node3_8000-health.http",
                                      "engine/002-20261129T150133.000Z-node3_8000-metrics.txt",
                                      "engine/003-20261129T150133.000Z-node3_8000-health.http"}));
  EXPECT_EQ(content(x_bundle / x_files.at(0).path), "vllm:x 1\n");
  EXPECT_EQ(content(x_bundle / x_files.at(1).path), "HTTP 200\n");
  EXPECT_EQ(x_files.at(1).note, "health 200");
}

TEST_F(EngineSourceTest, HealthAloneIsKeptToo) {
  x_sampling.samples = 1;
  const auto outcome = run([](std::chrono::nanoseconds) {
    EngineReply reply = answer("", 503);
    reply.trouble = "HTTP 503";
    return reply;
  });
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "metrics: HTTP 503");
  ASSERT_EQ(x_files.size(), 1u);
  EXPECT_EQ(x_files.at(0).note, "health 503");
}

TEST_F(EngineSourceTest, WhereNothingListensItAsksOnce) {
  const auto outcome = run([](std::chrono::nanoseconds) {
    EngineReply reply;
    reply.trouble = reply.health_trouble = "connection refused";
    return reply;
  });
  EXPECT_EQ(x_polls, 1);
  EXPECT_EQ(outcome.status, Status::kRefused);
  EXPECT_EQ(outcome.reason, "metrics: connection refused; health: connection refused");
}

TEST_F(EngineSourceTest, ItHadNoTimeToAnswerIsNoRefusal) {
  const auto outcome = run([](std::chrono::nanoseconds) {
    EngineReply reply;
    reply.trouble = "node3:8000: interrupted";
    reply.interrupted = true;
    return reply;
  });
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_EQ(x_polls, 1);
}

TEST_F(EngineSourceTest, AMuteEngineIsAskedAgainAndSilent) {
  const auto outcome = run([this](std::chrono::nanoseconds timeout) {
    EXPECT_LE(timeout, 5s);
    x_clock->advance(timeout);
    EngineReply reply;
    reply.trouble = "no answer";
    return reply;
  });
  EXPECT_EQ(x_polls, 2);
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_TRUE(files_on_disk().empty());
}

}  // namespace
}  // namespace unhang::collect
