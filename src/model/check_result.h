// SPDX-License-Identifier: Apache-2.0
//
// What a named check found: of environment variables (`unhang env check`), of a node or a pod (`unhang
// doctor`). Values only; checks/ makes them, report/ shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::model {

// In ascending order of what weighs most: the worst of many is the largest.
enum class CheckStatus : std::uint8_t {
  kPass,
  kUnknown,  // it could not be looked at, `detail` says why
  kWarn,     // it works, and evidence or speed will be lost one day
  kFail,     // it does not work, or the evidence of the next stall is lost for sure
};
std::string_view name_of(CheckStatus status);  // "pass", "unknown", "warn", "fail"

struct CheckResult {
  std::string id;     // "recorder-off": stable, unique in its catalogue; several results may share one
  std::string title;  // what was looked at, as a sentence that is true when it passes
  CheckStatus status = CheckStatus::kPass;
  std::string detail;                 // what was found, in a sentence
  std::string why;                    // why it matters; empty where it passed
  std::string fix;                    // what mends it, to be copied; lines of its own, never wrapped
  std::vector<std::string> evidence;  // where: "job.env:7", "pid 412 (python3)"
};

struct CheckReport {
  std::string subject;             // what was checked: "job.env", "pid 412", "this node"
  std::vector<std::string> notes;  // what was assumed, what was left out
  std::vector<CheckResult> results;

  std::size_t count(CheckStatus status) const;
  CheckStatus worst() const;  // kPass where there is none
};

}  // namespace unhang::model
