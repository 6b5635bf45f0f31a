// SPDX-License-Identifier: Apache-2.0
//
// For the tests of this room: a plan's job with its fault in it, run, and the dumps of its ranks as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "simulate/fault.h"
#include "simulate/job.h"
#include "simulate/recording.h"

namespace unhang::simulate {

struct TestJob {
  Job job;
  Truth truth;
  Plan plan;

  RecordedDump dump(std::int32_t rank) const { return record(job, plan, rank); }
  std::vector<RecordedDump> dumps() const {
    std::vector<RecordedDump> out;
    for (std::int32_t rank = 0; rank < plan.ranks; ++rank) out.push_back(dump(rank));
    return out;
  }
};

inline TestJob run_job(const Plan& plan, std::size_t steps = 3) {
  TestJob made{Job(Layout::make(plan.ranks, plan.tp, plan.pp).value(),
                   plan.backend == "gloo" ? Backend::kGloo : Backend::kNccl, steps, plan.seed),
               {},
               plan};
  auto truth = inject(made.job, plan);
  CHECK(truth.has_value());  // the tests that use this give plans that can be carried out
  made.truth = *truth;
  made.job.run();
  return made;
}

inline const RecordedCall& call_of(const RecordedDump& dump, const RecordedEntry& entry) {
  return dump.calls[entry.call];
}
inline const std::string& name_of(const RecordedDump& dump, const RecordedEntry& entry) {
  return call_of(dump, entry).profiling_name;
}

}  // namespace unhang::simulate
