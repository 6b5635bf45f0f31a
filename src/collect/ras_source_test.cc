// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_source.h"

#include <gtest/gtest.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
using fixture::kStartNs;
using Status = model::SourceStatus;

class RasSourceTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  RasReply report(const std::string& bytes, std::chrono::nanoseconds elapsed = 1s) {
    RasReply reply;
    reply.asked = "localhost:28028";
    reply.resolved = "127.0.0.1:28028";
    reply.bytes = bytes;
    reply.is_json = bytes.starts_with('{');
    reply.complete = true;
    reply.started_ns = x_clock->wall_ns();
    reply.elapsed = elapsed;
    return reply;
  }
  RasReply failure(const std::string& trouble) {
    RasReply reply;
    reply.asked = "localhost:28028";
    reply.trouble = trouble;
    return reply;
  }
  SourceOutcome run(PollRas poll, std::chrono::nanoseconds budget = 25s) {
    return run_alone(ras_source(
                         "ras-1", "localhost:28028", x_sampling,
                         [this, poll = std::move(poll)](std::chrono::nanoseconds timeout) {
                           ++x_polls;
                           x_timeouts.push_back(timeout);
                           return poll(timeout);
                         },
                         x_names),
                     budget);
  }

  CaptureSampling x_sampling{3, 4s};
  std::shared_ptr<CaptureNames> x_names = std::make_shared<CaptureNames>();
  int x_polls = 0;
  std::vector<std::chrono::nanoseconds> x_timeouts;
};

TEST_F(RasSourceTest, AsksThreeTimesAndKeepsWhatCameInOrder) {
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {report("{\"n\":" + std::to_string(x_polls) + "}")};
    x_clock->advance(1s);
    return poll;
  });
  EXPECT_EQ(outcome.status, Status::kAnswered);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(files_on_disk(), (std::vector<std::string>{"ras/000-20261129T150130.000Z-127.0.0.1_28028.json",
                                                       "ras/001-20261129T150135.000Z-127.0.0.1_28028.json",
                                                       "ras/002-20261129T150140.000Z-127.0.0.1_28028.json"}));
  EXPECT_EQ(content(x_bundle / x_files.at(2).path), "{\"n\":3}");
  EXPECT_EQ(x_files.at(1).captured_ns, kStartNs + 6'000'000'000);
  EXPECT_EQ(x_timeouts, (std::vector<std::chrono::nanoseconds>{25s, 20s, 15s}));
}

TEST_F(RasSourceTest, StopsWhenNoTimeIsLeft) {
  const auto outcome = run(
      [&](std::chrono::nanoseconds) {
        RasPoll poll;
        poll.replies = {report("RAS")};
        x_clock->advance(10s);
        return poll;
      },
      20s);
  EXPECT_EQ(x_polls, 2);
  EXPECT_EQ(outcome.status, Status::kAnswered);
  EXPECT_EQ(outcome.reason, "asked 2 of 3 times: no time was left for more");
  EXPECT_TRUE(x_files.at(0).path.ends_with(".txt"));
}

TEST_F(RasSourceTest, SeveralJobsBehindOneAddressAreKeptEach) {
  x_sampling.samples = 1;
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {report("{\"job\":\"slow\"}", 3s), report("{\"job\":\"fast\"}", 1s)};
    return poll;
  });
  EXPECT_EQ(outcome.status, Status::kAnswered);
  ASSERT_EQ(x_files.size(), 2u);
  EXPECT_EQ(content(x_bundle / x_files[0].path), "{\"job\":\"fast\"}") << "in order of time";
}

TEST_F(RasSourceTest, AReportThatBreaksOffIsKeptAndSaid) {
  x_sampling.samples = 1;
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {report("RAS, half")};
    poll.replies[0].complete = false;
    poll.replies[0].trouble = "the connection broke";
    return poll;
  });
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "the connection broke");
  EXPECT_EQ(x_files.at(0).note, "not complete: the connection broke");
}

TEST_F(RasSourceTest, WhereNothingListensItAsksOnce) {
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {failure("connection refused")};
    return poll;
  });
  EXPECT_EQ(x_polls, 1);
  EXPECT_EQ(outcome.status, Status::kRefused);
  EXPECT_EQ(outcome.reason, "connection refused");
}

TEST_F(RasSourceTest, ItHadNoTimeToAnswerIsNoRefusal) {
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {failure("127.0.0.1:28028: interrupted")};
    poll.interrupted = true;
    return poll;
  });
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_EQ(outcome.reason, "127.0.0.1:28028: interrupted");
  EXPECT_EQ(x_polls, 1);
}

TEST_F(RasSourceTest, AMuteServiceIsAskedAgainAndSilent) {
  const auto outcome = run([&](std::chrono::nanoseconds timeout) {
    RasPoll poll;
    poll.replies = {failure("no answer in time")};
    poll.replies[0].deadline = true;
    x_clock->advance(std::min<std::chrono::nanoseconds>(timeout, 15s));
    return poll;
  });
  EXPECT_EQ(x_polls, 2);
  EXPECT_EQ(outcome.status, Status::kSilent);
  EXPECT_EQ(outcome.reason, "no answer in time");
}

TEST_F(RasSourceTest, ConnectionsThatStayMuteAreNoRefusal) {
  x_sampling.samples = 1;
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {failure("6 connections were accepted and not answered")};
    poll.replies[0].mute = 6;
    return poll;
  });
  EXPECT_EQ(outcome.status, Status::kSilent);
}

TEST_F(RasSourceTest, WhatMayNotBeAskedIsNotAskedAgain) {
  const auto outcome = run([&](std::chrono::nanoseconds) {
    RasPoll poll;
    poll.replies = {failure("2.24 may crash while it starts")};
    poll.replies[0].refused = true;
    return poll;
  });
  EXPECT_EQ(x_polls, 1);
  EXPECT_EQ(outcome.status, Status::kFailed);
  EXPECT_EQ(outcome.reason, "not asked: 2.24 may crash while it starts");
}

}  // namespace
}  // namespace unhang::collect
