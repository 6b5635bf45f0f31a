// SPDX-License-Identifier: Apache-2.0
//
// Which variables a job should have: always, and for the one run that is to show why it failed. Names and
// defaults follow the releases (known_variables.h).
#pragma once

#include <string>

#include "checks/software.h"
#include "model/env_plan.h"
#include "model/verdict.h"

namespace unhang::checks {

struct EnvPlanOptions {
  Software software;
  std::string folder = "/var/log/nccl";  // of logs and dumps; absolute
};

// Costs nothing worth measuring while the job runs: logs of the start, the recorder's ring, a FIFO.
model::EnvPlan normal_plan(const EnvPlanOptions& options);
// For the restart after an incident: NCCL and PyTorch read variables once, when they start. What costs speed
// or changes the job is optional.
model::EnvPlan incident_plan(model::Category category, const EnvPlanOptions& options);

}  // namespace unhang::checks
