// SPDX-License-Identifier: Apache-2.0
//
// What the engines' own counters say in a Case: a second signal of progress beside NCCL's counts, from
// readings whose times are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/engine_progress.h"
#include "model/case.h"

namespace unhang::detect {

struct EngineEvidence {
  std::string engine;           // the URL or path that was asked
  model::InputIndex input = 0;  // of the latest reading
  std::size_t readings = 0;
  bool timed = false;  // all readings have a time: else no movement can be judged
  EngineJudgement judgement;
  std::optional<int> health;  // HTTP status of its health check, the latest
};

std::vector<EngineEvidence> judge_engines(const model::Case& joined);

// Some engine has requests to work on (true), none has (false); nullopt: no engine tells.
std::optional<bool> engine_work(const std::vector<EngineEvidence>& engines);

}  // namespace unhang::detect
