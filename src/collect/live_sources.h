// SPDX-License-Identifier: Apache-2.0
//
// The sources of a capture by the names that a person selects them with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unhang::collect {

struct LiveSource {
  std::string_view name;  // "kernel-log"
  std::string_view what;  // for --help and pages
};
const std::vector<LiveSource>& live_sources();

// Which of them are asked. The processes are looked at in any case: the others stand on that.
struct SourceSelection {
  std::vector<std::string> only;     // empty: all
  std::vector<std::string> without;  // not these
  bool has(std::string_view name) const;
};

// Of lists as typed ("gpu,nic"), each flag any number of times. kUsage for a name that is none.
base::Result<SourceSelection> parse_selection(const std::vector<std::string>& only,
                                              const std::vector<std::string>& without);

}  // namespace unhang::collect
