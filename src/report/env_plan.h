// SPDX-License-Identifier: Apache-2.0
//
// Variables with their reasons, in the form in which a job takes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/env_plan.h"

namespace unhang::report {

enum class EnvPlanForm {
  kExport,      // a shell file to be sourced
  kKubernetes,  // the env: list of a container
  kSystemd,     // a drop-in of a unit
  kSlurm,       // lines of a batch script
  kJson,        // schema unhang.env_plan/1
};
std::optional<EnvPlanForm> parse_env_plan_form(std::string_view name);

// Comments are wrapped at `width` columns; lines that set something never are.
std::string render_env_plan(const model::EnvPlan& plan, EnvPlanForm form, int width);

}  // namespace unhang::report
