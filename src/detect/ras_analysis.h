// SPDX-License-Identifier: Apache-2.0
//
// What RAS told, prepared for the detectors: the latest view, each communicator's skew and movement, and the
// names by which a person finds them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/ras_progress.h"
#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

struct RasCommunicatorState {
  const model::RasCommunicator* communicator = nullptr;  // of the latest view
  RasSkew skew;
  RasCommunicatorProgress progress;
  std::vector<model::GroupIndex> groups;  // of the dumps that have just its members
  std::string label;  // "communicator b79ec9689dde9dc4 (8 ranks)", or the group of the dumps with its members
  bool moving = false;  // something in it grew in the latest views
  bool stands = false;  // watched for long enough, and nothing grew
};

struct RasAnalysis {
  const model::RasView* latest = nullptr;  // null: RAS was not asked
  std::vector<RasCommunicatorState> communicators;
  bool one_view = true;                    // no movement can be seen
  std::optional<std::int64_t> watched_ns;  // between first and latest view, where times are known
  // Another signal than RAS' own counts tells whether work is waiting to be done.
  std::optional<bool> work_in_flight;

  bool asked() const { return latest != nullptr; }
};

RasAnalysis analyse_ras(const model::Case& joined, std::optional<bool> work_in_flight);

// The rank of the Case that a rank of RAS stands for.
std::optional<model::RankIndex> case_rank(const model::Case& joined, const model::RasRank& rank);

// Where the communicator stands in the evidence, with a text for the citation.
model::EvidenceItem cite_communicator(const model::Case& joined, const RasAnalysis& ras,
                                      const model::RasCommunicator& communicator, std::string text);

// A subject for a rank that no rank of the Case stands for.
model::Subject subject_in_communicator(const RasCommunicatorState& state, const model::RasRank& rank,
                                       std::string why);

}  // namespace unhang::detect
