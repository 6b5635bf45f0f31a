// SPDX-License-Identifier: Apache-2.0
//
// What one input file turned out to hold. Every format fills its own list here; join/ reads them all.
#pragma once

#include <string>
#include <vector>

#include "model/dump.h"
#include "model/import_problem.h"

namespace unhang::formats {

struct Evidence {
  std::string path;
  std::string kind = "unknown";  // id of the format that recognised it
  std::vector<model::ImportProblem> problems;
  std::vector<model::Dump> dumps;  // at most one per file today; a text file may hold several kinds later
};

}  // namespace unhang::formats
