// SPDX-License-Identifier: Apache-2.0
#include "checks/environment.h"

#include <algorithm>

#include "base/redaction.h"
#include "os/process_table.h"

namespace unhang::checks {

const Variable* Environment::find(std::string_view variable) const {
  const auto at = std::find_if(variables.rbegin(), variables.rend(),
                               [&](const Variable& candidate) { return candidate.name == variable; });
  return at == variables.rend() ? nullptr : &*at;
}

std::optional<std::string> Environment::value(std::string_view variable) const {
  const Variable* found = find(variable);
  if (found == nullptr || !found->known || found->value.empty()) return std::nullopt;
  return found->value;
}

const std::vector<std::string>& watched_variables() {
  static const std::vector<std::string> names{"NCCL_*",
                                              "TORCH_NCCL_*",
                                              "TORCH_FR_*",
                                              "TORCH_INCLUDE_STACK_TRACE",
                                              "TORCH_INCLUDE_ONLY_ACTIVE",
                                              "TORCH_DISTRIBUTED_DEBUG",
                                              "TORCH_CPP_LOG_LEVEL",
                                              "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS",
                                              "VLLM_RPC_TIMEOUT",
                                              "VLLM_ENGINE_ITERATION_TIMEOUT_S",
                                              "VLLM_ENGINE_READY_TIMEOUT_S",
                                              "VLLM_SERVER_DEV_MODE",
                                              "VLLM_RAY_EXTRA_ENV_VARS_TO_COPY",
                                              "VLLM_RAY_EXTRA_ENV_VAR_PREFIXES_TO_COPY",
                                              "CUDA_LAUNCH_BLOCKING",
                                              "RAY_DEDUP_LOGS",
                                              "TZ"};
  return names;
}

bool is_watched(std::string_view variable) {
  return os::matches_variable(variable, watched_variables()) && !base::sounds_secret(variable);
}

}  // namespace unhang::checks
