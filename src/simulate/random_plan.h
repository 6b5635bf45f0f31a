// SPDX-License-Identifier: Apache-2.0
//
// Plans at random, for tests that ask of every incident that the culprit is found or the answer is honest.
#pragma once

#include <cstdint>

#include "simulate/plan.h"

namespace unhang::simulate {

struct RandomPlanRules {
  std::int32_t most_ranks = 64;
  std::int32_t most_hosts = 8;
  bool missing = false;
};

// All sources, any fault, any layout, hosts and clocks. The same number gives the same plan. Not every plan
// can be carried out (simulate() says so): take another number then.
Plan random_plan(std::uint64_t number, const RandomPlanRules& rules);

}  // namespace unhang::simulate
