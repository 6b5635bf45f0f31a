// SPDX-License-Identifier: Apache-2.0
//
// What the rules of `unhang env check` look at: one environment, the releases it is meant for, and, of a
// running job, what is around it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "checks/environment.h"
#include "checks/known_variables.h"
#include "checks/software.h"

namespace unhang::checks {

struct EnvSubject {
  Environment environment;
  Software software;
  std::chrono::nanoseconds collective_timeout = std::chrono::minutes(10);  // of the process groups
  // What should have the same variables: processes below a launcher, the worker pods of a group.
  std::vector<Environment> workers;
  // Names of the network interfaces as the process sees them; nullopt: not looked at.
  std::optional<std::vector<std::string>> interfaces;

  bool is_live() const { return interfaces.has_value(); }
};

// What is in force: the value that is set, or the default of this release of PyTorch.
std::int64_t ring_size(const EnvSubject& subject);  // entries; 0: off
bool dumps_on_timeout(const EnvSubject& subject);
std::int64_t dump_wait_ms(const EnvSubject& subject);
std::int64_t heartbeat_seconds(const EnvSubject& subject);
bool monitors(const EnvSubject& subject);
bool waits_blocking(const EnvSubject& subject);

// A torch variable that is a boolean, under any of its names; nullopt: not set, or not to be read.
std::optional<bool> torch_flag(const EnvSubject& subject, std::string_view new_name);

}  // namespace unhang::checks
