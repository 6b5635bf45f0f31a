// SPDX-License-Identifier: Apache-2.0
//
// The cause catalogue: every code that a verdict can name, what it means, how it shows, how to confirm it and
// what to do. One list feeds `unhang explain`, the reports and the docs. Adding a fault kind adds one entry
// here.
#pragma once

#include <span>
#include <string_view>

#include "model/verdict.h"

namespace unhang::model {

struct CauseInfo {
  std::string_view code;                 // "rank_not_entered": stable, part of the schema
  std::string_view title;                // "a rank did not enter the operation that the others wait in"
  std::span<const Category> categories;  // where it may appear; never empty
  std::string_view means;                // what it is, in two or three sentences
  std::string_view shows;                // how it shows in the evidence
  std::string_view confirm;              // the check that decides, with a command where one exists
  std::string_view fix;                  // what to do; a workaround is called one
  RecoveryLevel recovery = RecoveryLevel::kProcessGroup;
  FaultDomain fault_domain = FaultDomain::kUnknown;
  bool isolates_node = false;  // a hardware or host fault of that node: the node may be taken out of service
};

// All causes in the order of the docs. Codes are unique.
std::span<const CauseInfo> cause_catalogue();

// Null for a code that is not in the catalogue.
const CauseInfo* find_cause(std::string_view code);

}  // namespace unhang::model
