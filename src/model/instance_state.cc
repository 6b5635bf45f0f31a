// SPDX-License-Identifier: Apache-2.0
#include "model/instance_state.h"

#include <algorithm>

namespace unhang::model {

int exit_code(const std::vector<InstanceState>& instances) {
  const auto any = [&](auto... states) {
    return std::any_of(instances.begin(), instances.end(),
                       [&](const InstanceState& instance) { return ((instance.state == states) || ...); });
  };
  if (any(State::kStopped, State::kDead)) return 2;
  if (any(State::kSlow)) return 1;
  return any(State::kUnknown) || instances.empty() ? 3 : 0;
}

}  // namespace unhang::model
