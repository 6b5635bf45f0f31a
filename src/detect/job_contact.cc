// SPDX-License-Identifier: Apache-2.0
#include "detect/job_contact.h"

#include <algorithm>
#include <set>

namespace unhang::detect {

JobContact contact_of(const model::Case& joined) {
  JobContact out;
  bool asked = false, answered = !joined.ras.views.empty();
  for (const model::BundleManifest& bundle : joined.bundles) {
    for (const model::BundleSource& source : bundle.sources) {
      if (source.kind != "ras") continue;
      asked = true;
      answered = answered || source.status == model::SourceStatus::kAnswered ||
                 source.status == model::SourceStatus::kPartial;
    }
  }
  out.ras = answered || !asked;
  out.over = std::any_of(joined.bundles.begin(), joined.bundles.end(),
                         [](const model::BundleManifest& bundle) { return bundle.command.has_value(); });
  const auto is_alive = [](const model::ProcessSample& sample) {
    return sample.pid >= 0 && sample.state != '\0' && sample.state != 'Z' && sample.state != 'X';
  };
  std::set<std::int64_t> alive;
  for (const model::ProcessReading& reading : joined.processes) {
    if (is_alive(reading.sample)) alive.insert(reading.sample.pid);
  }
  for (const model::ProcessReading& reading : joined.processes) {
    if (!is_alive(reading.sample) || alive.contains(reading.sample.parent)) continue;
    if (!out.root || reading.sample.pid < *out.root) out.root = reading.sample.pid;
  }
  return out;
}

}  // namespace unhang::detect
