// SPDX-License-Identifier: Apache-2.0
//
// From the raw answers of one poll to what the screens show: read, united into jobs, counts compared.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/ras_client.h"
#include "detect/ras_progress.h"
#include "report/ras_state.h"

namespace unhang::cli {

// The views of the jobs that answered are in the order of join::unite_ras; the answers of one poll are of one
// moment. `time_ns` (wall clock) is shown where the caller sets it in the result.
report::RasState ras_state_of(const collect::RasPoll& poll);

// The exit code that the state stands for; where no job answered, why not.
int ras_exit_code(const report::RasState& state);

// Adds what several polls in a row say. Remembers each job by its communicators and processes.
class RasJobTracks {
 public:
  explicit RasJobTracks(std::int64_t frozen_after_ns) : x_frozen_after_ns(frozen_after_ns) {}

  // `now_ns` is a wall clock that never falls.
  void follow(report::RasState& state, std::int64_t now_ns);

 private:
  struct Track {
    detect::RasProgress progress;
    model::RasView latest;
  };
  Track& track_of(const model::RasView& view, std::vector<bool>& taken);

  std::int64_t x_frozen_after_ns;
  std::vector<Track> x_tracks;
};

}  // namespace unhang::cli
