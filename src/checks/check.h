// SPDX-License-Identifier: Apache-2.0
//
// A named check and how a list of them is run. A room's catalogue is an array of Check<Subject>: Subject is
// all that the checks look at, read beforehand, so that every check is a pure function and can be tested with
// values.
//
//   constexpr Check<Node> kChecks[] = {{"clock-sync", "the clock is kept by NTP", "why …", &clock_sync}, …};
//   report.results = run_checks<Node>(kChecks, node);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/check_result.h"

namespace unhang::checks {

// One thing that a check found. A check that is called and finds nothing wrong gives one kPass; one that does
// not apply to the subject gives an empty list.
struct Outcome {
  model::CheckStatus status = model::CheckStatus::kPass;
  std::string detail = {};
  std::string fix = {};  // lines to copy
  std::vector<std::string> evidence = {};
};
using Outcomes = std::vector<Outcome>;

inline Outcomes passed(std::string detail = {}, std::vector<std::string> evidence = {}) {
  return {Outcome{model::CheckStatus::kPass, std::move(detail), {}, std::move(evidence)}};
}
inline Outcomes not_applicable() {
  return {};
}

template <class Subject>
struct Check {
  std::string_view id;     // "recorder-off"
  std::string_view title;  // a sentence that is true when it passes
  std::string_view why;    // why it matters, where it does not
  Outcomes (*judge)(const Subject&);
};

// In the order of the catalogue. Never throws; allocates only what the checks return.
template <class Subject>
std::vector<model::CheckResult> run_checks(std::span<const Check<Subject>> catalogue,
                                           const Subject& subject) {
  std::vector<model::CheckResult> results;
  for (const Check<Subject>& check : catalogue) {
    for (Outcome& outcome : check.judge(subject)) {
      model::CheckResult result{.id = std::string(check.id),
                                .title = std::string(check.title),
                                .status = outcome.status,
                                .detail = std::move(outcome.detail),
                                .why = {},
                                .fix = std::move(outcome.fix),
                                .evidence = std::move(outcome.evidence)};
      if (result.status != model::CheckStatus::kPass) result.why = check.why;
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace unhang::checks
