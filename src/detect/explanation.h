// SPDX-License-Identifier: Apache-2.0
//
// What a detector says: one explanation of what the evidence shows, in terms of the Case. resolve.cc chooses
// among them and turns the chosen one into the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

struct OperationRef {
  model::RankIndex rank = 0;
  std::uint32_t operation = 0;
};

struct Explanation {
  model::Category category = model::Category::kInconclusive;
  std::string_view cause = "unknown";
  model::Confidence strength = model::Confidence::kLow;
  model::State state = model::State::kStopped;
  model::Phase phase = model::Phase::kSteady;
  std::string headline;          // one sentence for the first screen
  std::string root;              // a known reason behind the cause
  std::vector<std::string> why;  // why for each culprit, or one for all
  std::vector<model::RankIndex> culprits;
  std::vector<model::RankIndex> suspects;
  // Whom no rank of the Case stands for: a process, or a rank of which only the place in a communicator is
  // known.
  std::vector<model::Subject> other_culprits, other_suspects;
  std::vector<model::RankIndex> waiting;  // who waits for the culprits, where the wait-for graph doesn't know
  bool is_pair = false;                   // culprits[0] and culprits[1] are the two ends of one transfer
  std::optional<OperationRef> at;         // an operation that stands for the place of the trouble
  std::optional<model::Where> where;      // the same, where no operation was recorded
  std::vector<OperationRef> evidence;
  std::vector<model::EvidenceItem> records;    // cited from other sources than the Flight Recorder
  std::vector<const model::LogEvent*> events;  // of the Case's logs, what it rests on
  std::vector<std::string> rules_out;
  std::vector<model::Alternative> alternatives;
  // False: worth a finding, but no trouble (a stale watchdog, a mismatch that completed).
  bool explains_stall = true;
  // Whether it came before the stall, no clock tells.
  bool order_unknown = false;
  // Too weak to stand against anything firmer: one answer of a running job, say.
  bool tentative = false;
};

}  // namespace unhang::detect
