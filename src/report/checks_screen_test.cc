// SPDX-License-Identifier: Apache-2.0
#include "report/checks_screen.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "report/checks_json.h"

namespace unhang::report {
namespace {

using model::CheckReport;
using model::CheckResult;
using model::CheckStatus;

CheckReport sample() {
  CheckReport report{.subject = "job.env", .notes = {"PyTorch 2.11 is assumed"}, .results = {}};
  report.results.push_back({.id = "good",
                            .title = "all is well",
                            .status = CheckStatus::kPass,
                            .detail = "",
                            .why = "",
                            .fix = "",
                            .evidence = {}});
  report.results.push_back({.id = "slow",
                            .title = "it is quick",
                            .status = CheckStatus::kWarn,
                            .detail = "it is slow",
                            .why = "time is lost",
                            .fix = "export A=1\nunset B",
                            .evidence = {"job.env:3"}});
  report.results.push_back({.id = "broken",
                            .title = "it works",
                            .status = CheckStatus::kFail,
                            .detail = "it is broken",
                            .why = "nothing is kept",
                            .fix = "",
                            .evidence = {"a:1", "a:2", "a:3", "a:4", "a:5"}});
  return report;
}

TEST(ChecksScreen, TheWorstComesFirstAndPassedOnesAreCounted) {
  EXPECT_EQ(render_checks(sample(), {}),
            "job.env: 1 failed, 1 warning, 1 passed\n"
            "note: PyTorch 2.11 is assumed\n"
            "\n"
            "FAIL     it is broken\n"
            "  where  a:1, a:2, a:3, a:4 and 1 more · rule broken\n"
            "  why    nothing is kept\n"
            "\n"
            "WARN     it is slow\n"
            "  where  job.env:3 · rule slow\n"
            "  why    time is lost\n"
            "  mend   export A=1\n"
            "         unset B\n");
}

TEST(ChecksScreen, VerboseNamesWhatPassed) {
  CheckReport report;
  report.subject = "this node";
  report.results.push_back(sample().results[0]);
  EXPECT_EQ(render_checks(report, {.verbose = true}), "this node: 1 passed\n\npass     all is well (good)\n");
  EXPECT_EQ(render_checks(report, {}), "this node: 1 passed\n");
}

TEST(ChecksScreen, LongSentencesAreWrappedFixesAreNot) {
  CheckReport report;
  report.subject = "x";
  CheckResult result = sample().results[1];
  result.why = std::string(200, 'w') + " " + std::string(30, 'v');
  result.fix = "export LONG=" + std::string(100, 'l');
  report.results = {result};
  const std::string text = render_checks(report, {.width = 60});
  EXPECT_NE(text.find(result.fix + "\n"), std::string::npos);
  EXPECT_EQ(text.find(std::string(60, 'w')), std::string::npos);
}

TEST(ChecksScreen, ValuesOfStrangersDoNotReachTheTerminal) {
  CheckReport report = sample();
  report.subject = "\x1b[31mred";
  report.results[1].fix = "export A=\x1b]0;x\x07";
  EXPECT_EQ(render_checks(report, {}).find('\x1b'), std::string::npos);
}

TEST(ChecksJson, HoldsAllResultsInTheirOrder) {
  const auto json = nlohmann::json::parse(checks_json(sample(), "unhang.env_check/1"));
  EXPECT_EQ(json["schema"], "unhang.env_check/1");
  EXPECT_EQ(json["status"], "fail");
  EXPECT_EQ(json["counts"], (nlohmann::json{{"pass", 1}, {"unknown", 0}, {"warn", 1}, {"fail", 1}}));
  ASSERT_EQ(json["checks"].size(), 3U);
  EXPECT_EQ(json["checks"][0]["id"], "good");
  EXPECT_TRUE(json["checks"][0]["fix"].is_null());
  EXPECT_EQ(json["checks"][1]["fix"], "export A=1\nunset B");
  EXPECT_EQ(json["checks"][2]["evidence"].size(), 5U);
}

TEST(ChecksJson, NothingAtAllIsAPass) {
  const auto json = nlohmann::json::parse(checks_json({}, "s/1"));
  EXPECT_EQ(json["status"], "pass");
  EXPECT_TRUE(json["checks"].empty());
}

}  // namespace
}  // namespace unhang::report
