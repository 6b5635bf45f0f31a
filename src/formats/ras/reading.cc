// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/reading.h"

#include <algorithm>

#include <fmt/core.h>

namespace unhang::formats::ras {

using model::Severity;

void Reading::problem(Severity severity, std::string_view code, std::string text, std::uint64_t line,
                      std::uint64_t offset, std::uint64_t bytes_lost) {
  for (Folded& known : x_problems) {
    if (known.problem.code != code) continue;
    ++known.count;
    known.problem.bytes_lost += bytes_lost;
    known.problem.severity = std::max(known.problem.severity, severity);
    return;
  }
  x_problems.push_back({{severity, std::string(code), std::move(text), offset, bytes_lost}, line, 1});
}

bool Reading::take_record(std::uint64_t line) {
  if (x_records < kMaxRecords) {
    ++x_records;
    return true;
  }
  problem(Severity::kDataLoss, "too_large",
          fmt::format("more than {} ranks, processes and events in one file; what comes after is left out",
                      kMaxRecords),
          line, 0);
  return false;
}

bool Reading::take_deduced(std::uint64_t count, std::uint64_t line) {
  if (count <= kMaxDeduced - x_deduced) {
    x_deduced += count;
    return true;
  }
  problem(Severity::kInfo, "not_deduced",
          "too many ranks that no line names; of later answers only what is named is used", line, 0);
  return false;
}

void Reading::finish() {
  for (Folded& folded : x_problems) {
    std::string where;
    if (folded.line != 0) where = fmt::format("line {}", folded.line);
    if (folded.count > 1) {
      where += fmt::format("{}{} more of this kind", where.empty() ? "" : "; ", folded.count - 1);
    }
    if (!where.empty()) folded.problem.text += " (" + where + ")";
    x_evidence.problems.push_back(std::move(folded.problem));
  }
  x_problems.clear();
}

}  // namespace unhang::formats::ras
