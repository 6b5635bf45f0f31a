// SPDX-License-Identifier: Apache-2.0
//
// What a launch gets so that it can be seen: NCCL's log in files, PyTorch's recorder with its dumps. Nothing
// that changes how it communicates, and nothing that the caller has set already.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/software.h"
#include "checks/torch_install.h"

namespace unhang::checks {

struct ProbeVariables {
  std::vector<std::pair<std::string, std::string>> set;  // in the order in which they are shown
  std::string nccl_log;            // the caller's own NCCL_DEBUG_FILE, which is followed; empty: ours
  std::vector<std::string> notes;  // what of the caller's settings hides something
};

// `folder` is absolute and exists; pipes go to folder/pipes. `torch` nullopt: not known, both the new and the
// old names are set (a name that a release does not know does nothing). `calls`: NCCL logs each collective.
ProbeVariables probe_variables(const LookUp& variable, const std::string& folder,
                               const std::optional<Release>& torch, bool calls);

// Whether it is one of those, or another name for the same thing: what they say is what the probe sees.
bool is_probe_variable(std::string_view name);

}  // namespace unhang::checks
