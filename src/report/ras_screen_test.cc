// SPDX-License-Identifier: Apache-2.0
#include "report/ras_screen.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "report/ras_events.h"
#include "report/ras_json.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::RasCollective;
using model::RasPresence;

constexpr auto kAllReduce = static_cast<std::size_t>(RasCollective::kAllReduce);

// A job with one communicator in which each rank has launched that many all-reduces.
RasJobState job_with(const std::vector<std::uint64_t>& counts) {
  RasJobState job;
  job.view.nccl_version = "2.29.7";
  job.answered_at = {"127.0.0.1:28028"};
  model::RasCommunicator communicator;
  communicator.hash = 0xabc;
  communicator.size = static_cast<std::int32_t>(counts.size());
  RasCommunicatorState state;
  RasCountState all;
  all.collective = RasCollective::kAllReduce;
  all.least = all.most = all.majority = counts.front();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    model::RasRank rank;
    rank.rank = static_cast<std::int32_t>(i);
    rank.host = "10.0.0.1";
    rank.pid = 100 + static_cast<std::int64_t>(i);
    rank.nvml_device = rank.rank;
    rank.status = model::RasStatus::kRunning;
    rank.counts[kAllReduce] = counts[i];
    all.least = std::min(all.least, counts[i]);
    all.most = std::max(all.most, counts[i]);
    communicator.ranks.push_back(rank);
  }
  state.counts = {all};
  job.view.communicators = {communicator};
  job.communicators = {state};
  return job;
}

RasState state_with(RasJobState job) {
  RasState state;
  state.jobs.push_back(std::move(job));
  return state;
}

RasJobState lagging_job() {
  RasJobState job = job_with({100, 100, 99, 100});
  job.communicators[0].laggards = job.communicators[0].counts[0].laggards = {2};
  job.communicators[0].counts[0].majority = 100;
  return job;
}

std::string screen(const RasState& state, RasScreenOptions options = {}) {
  const std::string text = render_ras_screen(state, options);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(columns(text.substr(at, end - at)), options.width) << text.substr(at, end - at);
    at = end + 1;
  }
  return text;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(RasScreen, QuietJob) {
  const RasState state = state_with(job_with({100, 100, 100, 100}));
  EXPECT_EQ(look_of(state), RasLook::kQuiet);
  const std::string text = screen(state);
  EXPECT_TRUE(has(text, "NCCL 2.29.7 · 4 processes · 1 node · asked at 127.0.0.1:28028\n")) << text;
  EXPECT_TRUE(has(text, "  0000000000000abc  4/4        RUNNING   AllReduce 100\n")) << text;
  EXPECT_TRUE(has(text, "Whether it moves: unhang ras watch\n")) << text;
}

TEST(RasScreen, OneAnswerProvesNoStall) {
  const RasState state = state_with(lagging_job());
  EXPECT_EQ(look_of(state), RasLook::kUnknown);
  const std::string text = screen(state);
  EXPECT_TRUE(has(text, "    behind: rank 2 (10.0.0.1 pid 102 GPU 2): AllReduce 99, most are at 100\n"))
      << text;
  EXPECT_TRUE(has(text, "one answer proves no")) << text;
}

TEST(RasScreen, ATieNamesNobodyAsLate) {
  RasJobState job = job_with({99, 100, 99, 100});
  RasCommunicatorState& state = job.communicators[0];
  state.tie = state.counts[0].tie = true;
  state.counts[0].majority = 100;
  state.laggards = state.counts[0].laggards = {0, 2};
  const std::string text = screen(state_with(job));
  EXPECT_TRUE(has(text, "lower: rank 0")) << text;
  EXPECT_TRUE(has(text, "nobody can tell who is late")) << text;
  EXPECT_FALSE(has(text, "behind:")) << text;
}

TEST(RasScreen, LostProcessesAreBad) {
  RasJobState job = job_with({100, 100, 100, 100});
  job.view.communicators[0].ranks[1].presence = RasPresence::kDead;
  job.view.communicators[0].ranks[3].presence = RasPresence::kUnresponsive;
  const RasState state = state_with(job);
  EXPECT_EQ(look_of(state), RasLook::kBad);
  const std::string text = screen(state);
  EXPECT_TRUE(has(text, "2/4")) << text;
  EXPECT_TRUE(has(text, "dead: rank 1 (10.0.0.1 pid 101 GPU 1)")) << text;
  EXPECT_TRUE(has(text, "no answer: rank 3 (10.0.0.1 pid 103 GPU 3)")) << text;
  EXPECT_TRUE(has(text, "1 process is dead: silent for 60 s")) << text;
}

TEST(RasScreen, ErrorsAreBadAndNamed) {
  RasJobState job = job_with({100, 100});
  job.view.communicators[0].ranks[1].async_error = model::NcclResult::kSystem;
  EXPECT_EQ(look_of(job), RasLook::kBad);
  EXPECT_TRUE(has(screen(state_with(job)), std::string("rank 1 (10.0.0.1 pid 101 GPU 1): ") +
                                               std::string(model::text_of(model::NcclResult::kSystem))));
}

TEST(RasScreen, CommunicatorsThatLookAlikeShareALine) {
  RasJobState job = job_with({100, 100});
  for (int i = 1; i < 500; ++i) {
    model::RasCommunicator more = job.view.communicators[0];
    more.hash += static_cast<std::uint64_t>(i);
    RasCommunicatorState state = job.communicators[0];
    state.counts[0].least = state.counts[0].most = 100 + static_cast<std::uint64_t>(i);
    job.view.communicators.push_back(more);
    job.communicators.push_back(state);
  }
  const std::string text = screen(state_with(job));
  EXPECT_TRUE(has(text, "  500 alike         2/2        RUNNING   AllReduce 100-599\n")) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 12);
}

TEST(RasScreen, ManyTroubledCommunicatorsDoNotFloodTheScreen) {
  RasJobState job = lagging_job();
  for (std::uint64_t i = 1; i < 200; ++i) {
    job.view.communicators.push_back(job.view.communicators[0]);
    job.view.communicators.back().hash += i;
    job.communicators.push_back(job.communicators[0]);
  }
  const std::string text = screen(state_with(job));
  EXPECT_TRUE(has(text, "and 184 more (--verbose)")) << text;
}

TEST(RasScreen, HostileNamesDoNoHarm) {
  RasJobState job = lagging_job();
  job.view.nccl_version = "2\x1b[31m\n9";
  job.view.communicators[0].ranks[2].host = "\x1b]0;x\x07 host\nname" + std::string(300, 'h');
  RasState state = state_with(job);
  state.troubles.push_back({"a", "\x1b[2Jboo"});
  state.notes.emplace_back("\x07");
  const std::string text = screen(state, {.width = 40});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(RasScreen, VerboseShowsEveryRank) {
  RasState state = state_with(job_with({100, 100, 100}));
  const std::string text = screen(state, {.verbose = true});
  EXPECT_TRUE(has(text, "rank 1 (10.0.0.1 pid 101 GPU 1) RUNNING, AllReduce 100")) << text;
}

TEST(RasScreen, WatchSaysSinceWhen) {
  RasJobState job = lagging_job();
  job.communicators[0].movement =
      RasMovementState{"lagging", "", {2}, std::nullopt, 1'800'000'000'000'000'000};
  EXPECT_EQ(look_of(job), RasLook::kBad);
  EXPECT_TRUE(has(screen(state_with(job)), "so since 2027-01-15T08:00:00Z"));
  EXPECT_EQ(movement_words(job.view.communicators[0], job.communicators[0]),
            "0000000000000abc (4 ranks): lagging; behind: rank 2 (10.0.0.1 pid 102 GPU 2) since "
            "2027-01-15T08:00:00Z");
  job.communicators[0].movement = RasMovementState{"advancing", "", {}, std::nullopt, std::nullopt};
  EXPECT_EQ(look_of(job), RasLook::kQuiet) << "what moves may differ";
}

TEST(RasJson, SaysTheSame) {
  RasState state = state_with(lagging_job());
  state.troubles.push_back({"node4:28028", "connect to 10.0.0.4:28028: connection refused"});
  const std::string line = render_ras_json(state, JsonLayout::kLine);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto document = nlohmann::json::parse(line);
  EXPECT_EQ(document["schema"], "unhang.ras/1");
  EXPECT_EQ(document["look"], "unknown");
  EXPECT_EQ(document["time"], nullptr);
  const auto& communicator = document["jobs"][0]["communicators"][0];
  EXPECT_EQ(communicator["hash"], "0000000000000abc");
  EXPECT_EQ(communicator["behind"], nlohmann::json::array({2}));
  EXPECT_EQ(communicator["counts"][0]["least"], 99);
  EXPECT_EQ(communicator["ranks"].size(), 4u);
  EXPECT_EQ(communicator["ranks"][2]["launched"]["AllReduce"], 99);
  EXPECT_EQ(communicator["ranks"][2]["cuda_device"], nullptr);
  EXPECT_EQ(document["troubles"][0]["asked"], "node4:28028");
  EXPECT_EQ(nlohmann::json::parse(render_ras_json(state, JsonLayout::kIndented)), document);
}

TEST(RasEvents, OneLineEach) {
  model::RasEvent event;
  event.timestamp = "2026-11-29 15:13:42";
  event.event = "PEER_DEAD";
  event.host = "127.0.1.2";
  event.pid = 1919;
  event.cuda_devices = {1};
  event.details = "a\nb";
  EXPECT_EQ(ras_event_line(event), "2026-11-29 15:13:42  PEER_DEAD  127.0.1.2 pid 1919 GPU 1  a b\n");
  const auto document = nlohmann::json::parse(ras_event_json(event, "[::1]:28028"));
  EXPECT_EQ(document["pid"], 1919);
  EXPECT_EQ(document["details"], "a\nb");
  EXPECT_EQ(document["address"], nullptr);
  EXPECT_EQ(document["told_by"], "[::1]:28028");
}

}  // namespace
}  // namespace unhang::report
