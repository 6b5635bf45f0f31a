// SPDX-License-Identifier: Apache-2.0
#include "checks/env_rules.h"

#include "base/printable.h"
#include "base/redaction.h"

namespace unhang::checks {

std::vector<Check<EnvSubject>> env_rules() {
  std::vector<Check<EnvSubject>> all;
  for (const auto theme : {env_rules_of_values(), env_rules_of_recorder(), env_rules_of_limits(),
                           env_rules_of_logs(), env_rules_of_ras(), env_rules_of_transport()})
    all.insert(all.end(), theme.begin(), theme.end());
  return all;
}

std::vector<model::CheckResult> check_environment(const EnvSubject& subject) {
  const std::vector<Check<EnvSubject>> rules = env_rules();
  return run_checks<EnvSubject>(rules, subject);
}

std::string shown(const Variable& variable) {
  constexpr std::size_t kMostBytes = 120;
  if (!variable.known) return variable.name;
  std::string value = base::redact_line(base::printable(variable.value));
  if (value.size() > kMostBytes) value = value.substr(0, kMostBytes) + "…";
  return variable.name + "=" + value;
}

Outcome about(model::CheckStatus status, const Variable& variable, std::string detail, std::string fix) {
  return {status, std::move(detail), std::move(fix), {variable.where}};
}

std::string set_line(const EnvSubject& subject, std::string_view name, std::string_view value) {
  // A value is copied from the environment in some fixes: no password may come along.
  return base::env_line(subject.environment.form, name, base::redact_line(value));
}

std::string removal(const EnvSubject& subject, std::string_view name) {
  return base::env_removal(subject.environment.form, name);
}

}  // namespace unhang::checks
