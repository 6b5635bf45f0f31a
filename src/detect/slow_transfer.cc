// SPDX-License-Identifier: Apache-2.0
//
// Data that moves more slowly than it did, or between two ranks more slowly than between others, while
// everything completes. What is measured: slow_transfers.h, slow_pairs.h. docs/detectors/slow_transfer.md
// tells the method.
#include <algorithm>

#include "detect/detector.h"
#include "detect/slow_report.h"

namespace unhang::detect {
namespace {

constexpr std::size_t kMostFindings = 8;

Explanation explain(const Analysis& analysis, const model::SlowFinding& found) {
  Explanation out;
  out.category = model::Category::kPerformanceDegradation;
  out.cause = found.cause;
  out.state = model::State::kSlow;
  out.strength = found.confidence;
  out.headline = found.text;
  out.why = found.why;
  if (out.why.empty()) out.why.push_back("its transfers take longer once both ends are there");
  out.culprits = found.culprits;
  out.suspects = found.suspects;
  out.is_pair = found.kind == model::SlowKind::kSlowPair;
  out.explains_stall = found.slow;
  if (found.group) {
    model::Where where;
    where.group = analysis.joined.group_label(*found.group);
    where.ordinal = found.since_sequence;
    out.where = std::move(where);
  }
  out.rules_out.push_back("a hang: everything that was recorded is finished");
  out.rules_out.push_back("a late rank: times count from when all have entered");
  out.alternatives.push_back(
      {.category = model::Category::kPerformanceDegradation,
       .cause = "gpu_throttled",
       .speaks_for = {"a GPU at reduced clocks copies and reduces more slowly, too"},
       .speaks_against = {"its own computation would make it late first"},
       .decide_by = "under load: nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE"});
  return out;
}

}  // namespace

std::vector<Explanation> find_slow_transfer(const Analysis& analysis) {
  // Only of a job that stands nowhere: what is open in a stalled one has no duration yet.
  if (!analysis.waits.stalls.empty()) return {};
  std::vector<Explanation> out;
  for (const model::SlowFinding& found : slow_network(analysis)) {
    if (out.size() == kMostFindings) break;
    out.push_back(explain(analysis, found));
  }
  return out;
}

}  // namespace unhang::detect
