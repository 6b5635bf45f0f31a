// SPDX-License-Identifier: Apache-2.0
//
// From the paths of a command line to the joined Case: the one path that every command which looks at
// evidence takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/log_time_flags.h"
#include "model/case.h"

namespace unhang::cli {

struct LoadOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  std::optional<std::int64_t> world_size;
  std::string instance;  // of bundles; empty: the one with most files
  LogTimeFlags log_times = {};
  bool needs_dumps = false;      // Flight Recorder dumps: other evidence alone is of no use to the command
  Output* complaints = nullptr;  // where to say at once that an argument could not be used, and, on a
                                 // terminal, how far the reading is; null: only in the Case
};

// The flags that fill it, for the commands that read evidence.
std::vector<Flag> load_flags(LoadOptions& options);
Positional evidence_paths();

// Reads everything below `paths`, in parallel, and joins it. Files that cannot be read are in Case::inputs
// with their problems. Fails when a flag has no sensible value (kUsage, before anything is read), when a path
// does not exist (kNoInput) or when nothing at all could be read (kData).
base::Result<model::Case> load_case(const std::vector<std::string>& paths, const LoadOptions& options);

}  // namespace unhang::cli
