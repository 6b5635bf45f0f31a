// SPDX-License-Identifier: Apache-2.0
//
// What the commands that print variables share: --format, --directory.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "checks/env_plans.h"
#include "cli/command.h"
#include "cli/software_flags.h"
#include "cli/streams.h"

namespace unhang::cli {

struct EnvPlanFlags {
  SoftwareFlags software;
  std::string folder = "/var/log/nccl";
  std::string format = "export";
};

std::vector<Flag> env_plan_flags(EnvPlanFlags& flags);
// kUsage where a flag is wrong.
base::Result<checks::EnvPlanOptions> env_plan_options(const EnvPlanFlags& flags);
void write_env_plan(const model::EnvPlan& plan, const EnvPlanFlags& flags, Streams& streams);

}  // namespace unhang::cli
