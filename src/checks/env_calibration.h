// SPDX-License-Identifier: Apache-2.0
//
// From the rate of collectives to the ring of the recorder, the time limits around it and the size of logs.
#pragma once

#include <chrono>
#include <optional>

#include "checks/collective_rates.h"
#include "checks/software.h"
#include "model/env_plan.h"

namespace unhang::checks {

struct CalibrationOptions {
  Software software;
  std::chrono::nanoseconds window = std::chrono::seconds(30);  // of history that a dump should reach back
  std::optional<double> rate;  // calls a second of one rank, said by a person; else measured
};

// nullopt: there is no rate. The notes of the plan are the calculation, in words.
std::optional<model::EnvPlan> calibration_plan(const CollectiveRates& rates,
                                               const CalibrationOptions& options);

}  // namespace unhang::checks
