// SPDX-License-Identifier: Apache-2.0
//
// Each check of `unhang doctor` has a case that must fire and one that must not.
#include "checks/node_checks.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "checks/doctor.h"
#include "checks/node_check_cases_for_tests.h"

namespace unhang::checks {
namespace {

using namespace fixture;

// The worst result of a check; nullopt: it does not apply.
std::optional<Status> status_of(const model::CheckReport& report, const std::string& id) {
  std::optional<Status> worst;
  for (const model::CheckResult& result : report.results) {
    if (result.id == id && (!worst || result.status > *worst)) worst = result.status;
  }
  return worst;
}
model::CheckResult result_of(const model::CheckReport& report, const std::string& id) {
  for (const model::CheckResult& result : report.results) {
    if (result.id == id) return result;
  }
  return {};
}

TEST(NodeChecks, AReadyNodePassesEveryCheck) {
  const auto report = check_node(ready(), {});
  for (const model::CheckResult& result : report.results)
    EXPECT_EQ(result.status, Status::kPass) << result.id << ": " << result.detail;
  // Those apply under a scheduler, and where the server was started, only.
  for (const Check<NodeSubject>& check : node_checks()) {
    if (check.id != "scheduler-tools" && check.id != "debug-server-open") {
      EXPECT_EQ(status_of(report, std::string(check.id)), Status::kPass) << check.id;
    }
  }
  EXPECT_EQ(report.subject, "this node, 2 workers");
  EXPECT_TRUE(report.notes.empty());
}

TEST(NodeChecks, FireAndKeepQuietAsTheyShould) {
  for (const Case& one : cases()) {
    NodeFacts facts = ready();
    one.change(facts);
    const auto report = check_node(facts, {});
    EXPECT_EQ(status_of(report, one.id), one.expected)
        << one.id << ": " << result_of(report, one.id).detail << ", case " << &one - cases().data();
  }
}

TEST(NodeChecks, EachHasACaseThatFires) {
  std::set<std::string> fired{"core-files"};  // it only tells
  for (const Case& one : cases()) {
    if (one.expected.value_or(Status::kPass) != Status::kPass) fired.insert(one.id);
  }
  for (const Check<NodeSubject>& check : node_checks())
    EXPECT_TRUE(fired.contains(std::string(check.id))) << check.id;
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // Each character of more than one byte in these texts is an ellipsis.
    widest = std::max(widest, end - 2 * static_cast<std::size_t>(text.substr(0, end).find("…") < end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

TEST(NodeChecks, EachFindingSaysWhyAndHowToMendIt) {
  for (const Case& one : cases()) {
    NodeFacts facts = ready();
    one.change(facts);
    for (const model::CheckResult& result : check_node(facts, {}).results) {
      if (result.status == Status::kPass) continue;
      EXPECT_FALSE(result.detail.empty()) << result.id;
      EXPECT_FALSE(result.why.empty()) << result.id;
      EXPECT_FALSE(result.fix.empty()) << result.id;
      EXPECT_LE(widest_line(result.fix), 71u) << result.id << ": it shall fit 80 columns, " << result.fix;
    }
  }
}

TEST(NodeChecks, NothingKnownIsNeverAFailure) {
  const auto report = check_node(NodeFacts{}, {});
  for (const model::CheckResult& result : report.results)
    EXPECT_NE(result.status, Status::kFail) << result.id << ": " << result.detail;
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("no worker runs here"), std::string::npos);
}

TEST(NodeChecks, TheSameFindingOfManyWorkersIsOneWithAllPlaces) {
  NodeFacts facts = ready();
  for (auto& one : facts.workers) one.process.environment[0].second = "TRACE";
  const model::CheckResult result = result_of(check_node(facts, {}), "trace-on");
  EXPECT_EQ(result.evidence, (std::vector<std::string>{"pid 100 (python3)", "pid 101 (python3)"}));
}

TEST(NodeChecks, ReleasesOfTheWorkerCountBeforeThoseSaidForAll) {
  NodeFacts facts = ready();
  facts.workers[0].torch_release = facts.workers[1].torch_release = "2.6.0";  // it does not know TORCH_FR_…
  for (auto& one : facts.workers)
    std::erase_if(one.process.environment,
                  [](const auto& variable) { return variable.first == "TORCH_NCCL_TRACE_BUFFER_SIZE"; });
  EXPECT_EQ(status_of(check_node(facts, {}), "recorder-off"), Status::kFail);
}

TEST(NodeChecks, WhoMayWriteWhere) {
  EXPECT_TRUE(may_write(1000, {}, folder("/x", 0700, 1000)));
  EXPECT_FALSE(may_write(1001, {}, folder("/x", 0700, 1000)));
  EXPECT_TRUE(may_write(1001, {1000}, folder("/x", 0770, 1000)));
  EXPECT_FALSE(may_write(1001, {1000}, folder("/x", 0720, 1000)));  // may not enter
  EXPECT_TRUE(may_write(1001, {}, folder("/x", 0777, 1000)));
  EXPECT_FALSE(may_write(1000, {1000}, folder("/x", 0577, 1000)));  // the owner's own bits count
  EXPECT_TRUE(may_write(0, {}, folder("/x", 0, 1000)));
  EXPECT_EQ(may_write(model::NodeWorker{}, folder("/x")), std::nullopt);
}

TEST(NodeChecks, RulesTakenOverExistAndAreSorted) {
  const auto& ids = env_rules_of_doctor();
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  const auto report = check_node(ready(), {});
  std::set<std::string> known;
  for (const auto& check : node_checks()) known.insert(std::string(check.id));
  for (const std::string& id : ids) EXPECT_FALSE(known.contains(id)) << id << " is in both catalogues";
}

}  // namespace
}  // namespace unhang::checks
