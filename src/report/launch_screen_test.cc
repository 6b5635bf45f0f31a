// SPDX-License-Identifier: Apache-2.0
#include "report/launch_screen.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchReport;
using model::LaunchRun;

LaunchReport sample() {
  LaunchReport report;
  report.command = {"vllm", "serve", "m"};
  report.set = {{"NCCL_DEBUG", "INFO"}};
  LaunchRun& base = report.base;
  base.folder = "/tmp/f/launch";
  base.facts.limit_s = 60;
  base.facts.ran_s = 60.02;
  base.facts.silent_s = 58;
  base.facts.nccl_began_s = 2.5;
  base.facts.processes = 3;
  base.facts.last_line = "Init torch distributed begin";
  base.stage.place = LaunchPlace::kNcclInit;
  base.stage.movement = LaunchMovement::kStanding;
  base.stage.headline = "it stands in NCCL's initialisation: its ranks look for each other (bootstrap)";
  base.stage.evidence.push_back({"/tmp/f/launch/nccl.n.41.log", 3, {}, {}, "rank 0 of 2 began\x1b[31m"});
  base.stage.not_seen = {"no stack with a known function"};
  return report;
}

LaunchRun trial() {
  LaunchRun run;
  run.change = "NCCL_P2P_DISABLE=1";
  run.stage.place = LaunchPlace::kRunning;
  run.stage.movement = LaunchMovement::kEnded;
  run.facts.ended = true;
  run.facts.exit_code = 0;
  run.facts.nccl_ready_s = 1.25;
  run.facts.throughput = 12.5;
  run.facts.throughput_unit = "samples/s";
  run.outcome = "gets further";
  return run;
}

TEST(LaunchScreen, SaysWhereItStoodAndByWhat) {
  EXPECT_EQ(render_launch(sample(), {}),
            "STOPPED  it stands in NCCL's initialisation: its ranks look for each other\n"
            "         (bootstrap)\n"
            "SEEN     nccl.n.41.log:3 rank 0 of 2 began\\x1b[31m\n"
            "         last line printed: Init torch distributed begin\n"
            "TIMES    ran 60.0 s of 60 s; NCCL began at 2.5 s; 3 processes\n"
            "NOT SEEN no stack with a known function\n"
            "NEXT     unhang diagnose /tmp/f/launch\n");
}

TEST(LaunchScreen, TrialsAreATableAndWhatTheySay) {
  LaunchReport report = sample();
  report.trials.push_back(trial());
  report.ruled_out = {"shared memory"};
  const std::string text = render_launch(report, {});
  EXPECT_NE(text.find("TRIAL              stopped          how        NCCL ready          speed\n"
                      "(as it is)         NCCL init        stands              -              -\n"
                      "NCCL_P2P_DISABLE=1 running          ended (0)       1.2 s 12.5 samples/s\n"
                      "         NCCL_P2P_DISABLE=1: gets further\n"
                      "RULED OUT shared memory\n"),
            std::string::npos)
      << text;
}

TEST(LaunchScreen, NoLineIsWiderThanTheScreen) {
  LaunchReport report = sample();
  report.trials.push_back(trial());
  report.trials[0].change = "A_VERY_LONG_NAME_OF_A_VARIABLE_THAT_NOBODY_HAS=1234567890123";
  report.trials[0].facts.throughput = 123456789.5;
  report.ruled_out = {std::string(300, 'x')};
  const std::string text = render_launch(report, {});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(columns(text.substr(at, end - at)), 80) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(LaunchScreen, OthersGetJson) {
  LaunchReport report = sample();
  report.trials.push_back(trial());
  const auto json = nlohmann::json::parse(launch_json(report));
  EXPECT_EQ(json["schema"], "unhang.probe/1");
  EXPECT_EQ(json["launch"]["place"], "nccl_init");
  EXPECT_EQ(json["launch"]["exit_code"], nullptr);
  EXPECT_EQ(json["launch"]["nccl_began_s"], 2.5);
  EXPECT_EQ(json["trials"][0]["exit_code"], 0);
  EXPECT_EQ(json["verdict"], nullptr);
}

}  // namespace
}  // namespace unhang::report
