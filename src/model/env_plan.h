// SPDX-License-Identifier: Apache-2.0
//
// Variables that a job should have, each with its reason. Values only; checks/ makes them, report/ writes
// them as a shell file, a pod spec, a unit, a batch script or JSON.
#pragma once

#include <string>
#include <vector>

namespace unhang::model {

struct EnvSetting {
  std::string name;
  std::string value;
  std::string reason;        // a sentence or two
  bool is_optional = false;  // for an experiment or a rehearsal: written, but commented out
};

struct EnvPlan {
  std::string title;  // "Variables of a job in normal service"
  // What was assumed, how it was computed, what no variable can set.
  std::vector<std::string> notes;
  std::vector<EnvSetting> settings;
};

}  // namespace unhang::model
