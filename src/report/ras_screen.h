// SPDX-License-Identifier: Apache-2.0
//
// One screen about live jobs: per job who answered, per communicator its counts and who is behind, and what
// that means in words. Communicators that look alike share a line.
#pragma once

#include <string>
#include <vector>

#include "report/ras_state.h"
#include "report/styled.h"

namespace unhang::report {

struct RasScreenOptions {
  int width = 80;
  bool color = false;
  bool verbose = false;  // every rank
};

std::string render_ras_screen(const RasState& state, const RasScreenOptions& options);

// One line about each communicator that `watch` follows, for its lines of change: "634a4b09acc8e460 (8
// ranks): lagging; rank 5 behind since 2026-…".
std::string movement_words(const model::RasCommunicator& communicator, const RasCommunicatorState& state);

// What it means, in sentences; the most important first.
std::vector<std::string> ras_meaning(const RasJobState& job);

// "rank 5 (10.0.0.1 pid 105 GPU 5)", "ranks 3,5,9" and how many have no name.
std::string ras_ranks_words(const model::RasCommunicator& communicator,
                            const std::vector<std::int32_t>& ranks, std::uint32_t unnamed = 0);

}  // namespace unhang::report
