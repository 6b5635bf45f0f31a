// SPDX-License-Identifier: Apache-2.0
//
// Collects what a verdict cites, each record once, with the file and record that a person can look up.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "detect/explanation.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

class EvidenceBook {
 public:
  EvidenceBook(const model::Case& joined, std::vector<model::EvidenceItem>& items)
      : x_case(joined), x_items(items) {}

  model::EvidenceId cite(const OperationRef& ref);
  model::EvidenceId cite(const model::EvidenceItem& item);

 private:
  const model::Case& x_case;
  std::vector<model::EvidenceItem>& x_items;
  std::map<std::pair<model::RankIndex, std::uint32_t>, model::EvidenceId> x_operations;
  std::map<std::tuple<std::string, std::int64_t, std::string>, model::EvidenceId> x_records;
};

// The frames of an operation, innermost first, with the user's own code marked.
std::vector<model::StackLine> stack_lines(const model::Case& joined, model::StackId stack);

}  // namespace unhang::detect
