// SPDX-License-Identifier: Apache-2.0
//
// What recovery rests on, in words: who started the job, who failed before, what the stall has cost. The same
// for the terminal and for Markdown; not yet cut or made harmless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"

namespace unhang::report {

// "LeaderWorkerSet"; the name itself where it is not known here; empty: not seen.
std::string environment_words(std::string_view environment);

// "3rd time on gpu-b07/mlx5_2, of 14 earlier verdicts; most often ib_retry_exceeded; last: a/b.json"
std::string history_words(const model::Recurrence& recurrence);

// "5.2 GPU-hours lost"; empty: not known.
std::string lost_words(const model::IncidentTimes& times);

// Which steps a screen with room for `most` shows: the first (nothing is kept once the job is gone), those
// that change something, then the earliest. Ascending.
std::vector<std::size_t> chosen_steps(const std::vector<model::RecoveryStep>& steps, std::size_t most);

}  // namespace unhang::report
