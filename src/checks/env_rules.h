// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of `unhang env check`: what goes wrong with variables. Each rule is a pure function; one that
// does not apply to these releases gives nothing.
#pragma once

#include <span>

#include "checks/check.h"
#include "checks/env_subject.h"

namespace unhang::checks {

// All rules, in the order in which they are shown.
std::vector<model::CheckResult> check_environment(const EnvSubject& subject);
std::vector<Check<EnvSubject>> env_rules();

// By theme, one file each.
std::span<const Check<EnvSubject>> env_rules_of_values();     // names and values that are not read
std::span<const Check<EnvSubject>> env_rules_of_recorder();   // Flight Recorder
std::span<const Check<EnvSubject>> env_rules_of_limits();     // time limits
std::span<const Check<EnvSubject>> env_rules_of_logs();       // NCCL_DEBUG_*
std::span<const Check<EnvSubject>> env_rules_of_ras();        // RAS and other listeners
std::span<const Check<EnvSubject>> env_rules_of_transport();  // workarounds, interfaces, workers

// For the rules: a finding about one variable, with its place, and a line that sets or removes it.
Outcome about(model::CheckStatus status, const Variable& variable, std::string detail, std::string fix);
std::string set_line(const EnvSubject& subject, std::string_view name, std::string_view value);
std::string removal(const EnvSubject& subject, std::string_view name);
// NAME=value, for a sentence; secrets that stand in a value are taken out, a long one is cut.
std::string shown(const Variable& variable);

}  // namespace unhang::checks
