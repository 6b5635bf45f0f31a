// SPDX-License-Identifier: Apache-2.0
//
// The variables of one process or container, as far as the checks look at them. Others never get in here:
// an environment holds keys and tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env_line.h"
#include "checks/software.h"

namespace unhang::checks {

struct Variable {
  std::string name;
  std::string value;
  std::string where;             // "job.env:7", "pid 412"
  bool known = true;             // false: made by an expansion, or from a secret or a config map
  bool kept_quotes = false;      // it stands in quotes that docker --env-file would keep
  bool carriage_return = false;  // its line ends as on Windows
  bool not_text = false;         // Kubernetes: a number or a boolean, where only text is taken
};

// More are not kept: no process has so many, and each rule looks at each of them.
inline constexpr std::size_t kMostVariables = 2000;

struct Environment {
  std::string name;                             // "container vllm", "pid 412 (python3)"; empty: the only one
  std::vector<Variable> variables;              // in the order of the source; of one name the last counts
  base::EnvForm form = base::EnvForm::kExport;  // how a fix has to look
  std::optional<Engine> engine;                 // that the command beside it starts

  const Variable* find(std::string_view variable) const;  // nullptr: not set
  // The value where it is set, known and not empty.
  std::optional<std::string> value(std::string_view variable) const;
  bool has(std::string_view variable) const { return find(variable) != nullptr; }
};

// Variables that the checks may look at and show: names, or beginnings that end in '*'. Names that sound like
// a secret are never among them (is_watched).
const std::vector<std::string>& watched_variables();
bool is_watched(std::string_view variable);

}  // namespace unhang::checks
