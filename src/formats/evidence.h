// SPDX-License-Identifier: Apache-2.0
//
// What one input file turned out to hold. Every format fills its own list here; join/ reads them all.
#pragma once

#include <string>
#include <vector>

#include "model/bundle.h"
#include "model/dump.h"
#include "model/engine_sample.h"
#include "model/import_problem.h"
#include "model/log.h"
#include "model/process_sample.h"
#include "model/ras.h"

namespace unhang::formats {

struct Evidence {
  std::string path;
  std::string kind = "unknown";  // id of the format that recognised it
  std::vector<model::ImportProblem> problems;
  std::vector<model::Dump> dumps;             // at most one per file today
  std::vector<model::RasAnswer> ras_answers;  // in the order of the file
  std::vector<model::RasEvent> ras_events;
  std::vector<model::EngineSample> engine_samples;
  std::vector<model::BundleManifest> bundles;  // at most one per file
  std::vector<model::Log> logs;                // at most one per file
  std::vector<model::ProcessSample> process_samples;
};

}  // namespace unhang::formats
