// SPDX-License-Identifier: Apache-2.0
#include "checks/env_subject.h"

namespace unhang::checks {
namespace {

std::optional<std::int64_t> torch_number(const EnvSubject& subject, std::string_view new_name) {
  const Variable* found = find_under_any_name(subject.environment, subject.software, new_name);
  if (found == nullptr || !found->known) return std::nullopt;
  return integer_of(found->value);
}

}  // namespace

std::optional<bool> torch_flag(const EnvSubject& subject, std::string_view new_name) {
  const Variable* found = find_under_any_name(subject.environment, subject.software, new_name);
  if (found == nullptr || !found->known) return std::nullopt;
  return torch_boolean_of(found->value);
}

// The defaults are those of FlightRecorder.hpp and ProcessGroupNCCL.cpp at these releases.
std::int64_t ring_size(const EnvSubject& subject) {
  if (const auto set = torch_number(subject, "TORCH_FR_BUFFER_SIZE")) return *set;
  return subject.software.torch_since(8) ? 2000 : 0;
}

bool dumps_on_timeout(const EnvSubject& subject) {
  if (const auto set = torch_flag(subject, "TORCH_FR_DUMP_ON_TIMEOUT")) return *set;
  return subject.software.torch_since(8);
}

std::int64_t dump_wait_ms(const EnvSubject& subject) {
  if (const auto set = torch_number(subject, "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC")) return *set;
  return subject.software.torch_since(8) ? 15'000 : subject.software.torch_since(4) ? 60'000 : 2'000;
}

std::int64_t heartbeat_seconds(const EnvSubject& subject) {
  if (const auto set = torch_number(subject, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC")) return *set;
  return subject.software.torch_since(5) ? 480 : 600;
}

bool monitors(const EnvSubject& subject) {
  return torch_flag(subject, "TORCH_NCCL_ENABLE_MONITORING").value_or(true);
}

bool waits_blocking(const EnvSubject& subject) {
  return torch_flag(subject, "TORCH_NCCL_BLOCKING_WAIT").value_or(false);
}

}  // namespace unhang::checks
