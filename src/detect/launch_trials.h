// SPDX-License-Identifier: Apache-2.0
//
// Experiments with a launch that hangs: which single variable would tell most, and what a run with it has
// shown. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/case.h"
#include "model/launch.h"

namespace unhang::detect {

struct TrialIdea {
  std::string change;  // "NCCL_P2P_DISABLE=1"
  std::string reason;  // what it takes out of the game
};

// At most `most`, the one that would tell most first. None where NCCL has nothing to do with where it stands;
// `why_none` then says so.
std::vector<TrialIdea> suggest_trials(const model::Case* joined, const model::LaunchStage& stage,
                                      const model::Verdict* verdict, std::size_t most, std::string* why_none);

// What the trial says beside the run without the change: a sentence. Sets `ruled_out` where the change made
// no difference, to what is therefore not the reason.
std::string trial_outcome(const model::LaunchRun& base, const model::LaunchRun& trial,
                          std::string* ruled_out);

// What all trials say together goes into the words of the launch and, where there is one, of its verdict.
void conclude_trials(model::LaunchReport& report);

// Variables that were set for the launch and that NCCL's log shows with another value: something inside the
// processes sets them anew.
std::vector<std::string> set_anew(const model::Case& joined,
                                  const std::vector<std::pair<std::string, std::string>>& set);

}  // namespace unhang::detect
