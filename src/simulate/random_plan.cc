// SPDX-License-Identifier: Apache-2.0
#include "simulate/random_plan.h"

#include <algorithm>
#include <array>

#include "simulate/random.h"

namespace unhang::simulate {

Plan random_plan(std::uint64_t number, const RandomPlanRules& rules) {
  constexpr std::array<std::int32_t, 4> kTensor = {1, 2, 4, 8};
  constexpr std::array<std::int32_t, 3> kPipeline = {1, 1, 2};
  constexpr std::array<std::int64_t, 5> kSkews = {0, 0, 300000000, 2000000000, 90000000000};
  Random random(hash({number, 501}));
  Plan plan;
  plan.sources = kAllSources;
  plan.missing = rules.missing;
  plan.seed = mix(number) >> 1 | 1;
  plan.fault = fault_catalogue()[random.below(fault_catalogue().size())].kind;
  plan.tp = kTensor[random.below(kTensor.size())];
  plan.pp = kPipeline[random.below(kPipeline.size())];
  if (random.below(8) == 0) plan.pp *= 2;
  while (plan.tp * plan.pp > rules.most_ranks) plan.tp /= 2;
  const std::int32_t most_data = rules.most_ranks / plan.tp / plan.pp;
  // Small jobs are as common as large ones.
  std::int32_t data = 1 + static_cast<std::int32_t>(random.below(static_cast<std::size_t>(most_data)));
  data = 1 + static_cast<std::int32_t>(random.below(static_cast<std::size_t>(data)));
  plan.ranks = std::max(2, plan.tp * plan.pp * data);
  if (plan.tp * plan.pp == 1) plan.ranks = std::max(2, data);
  plan.hosts = 1 + static_cast<std::int32_t>(
                       random.below(static_cast<std::size_t>(std::min(rules.most_hosts, plan.ranks))));
  plan.entries = 40 + static_cast<std::int32_t>(random.below(200));
  plan.frames = static_cast<std::int32_t>(random.below(3));
  plan.skew_ns = kSkews[random.below(kSkews.size())];
  plan.timing = random.below(3) == 0;
  if (random.below(5) == 0) plan.format = DumpFormat::kJson;
  plan.only_active = random.below(10) == 0;
  if (plan.fault ==
      FaultKind::kStraggler) {  // seen only over some steps, and never without finished operations
    plan.only_active = false;
    plan.steps = 12;
    plan.entries = 600;
  }
  return plan;
}

}  // namespace unhang::simulate
