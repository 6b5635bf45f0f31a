// SPDX-License-Identifier: Apache-2.0
//
// Where the processes of the job stood when somebody looked at their stacks. One look shows a moment: only
// what a later one shows again is a stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/case.h"
#include "model/known_frame.h"
#include "model/verdict.h"

namespace unhang::detect {

enum class Stand : std::uint8_t {
  kUnknown,   // in code that says nothing
  kWaits,     // in a collective, or for its GPU with nothing else on its stack
  kInit,      // making a communicator
  kHostWork,  // data, checkpoint, weights, compilation; storage or driver
  kIdle,      // waits for requests
  kStopped,   // by a signal
  kTraced,    // a debugger holds it
  kDead,      // ended, and its parent has not taken note of it
};
inline constexpr std::size_t kStands = 8;

struct ProcessLook {
  const model::ProcessReading* reading = nullptr;  // of the Case
  const model::ThreadSample* thread = nullptr;     // the one that speaks for it
  model::ThreadActivity activity;
  Stand stand = Stand::kUnknown;
  bool steady = false;  // an earlier look, kSteadyNs before or more, had the same stack
};

inline constexpr std::int64_t kSteadyNs = 5'000'000'000;

// The latest look at each process that counts: of ranks where at least two have one, else of all processes
// but helpers. One that was stopped counts in any case, a dead one where it may have been a rank: the same
// program as its parent, or as one that counts and has the same parent. In the order of the Case.
std::vector<ProcessLook> latest_looks(const model::Case& joined);

// Whether it runs no code at all.
bool is_halted(Stand stand);

// "rank 7", "process 412 (vllm) on gpu-b07"
std::string who_text(const ProcessLook& look);
// "rank 7 is waiting for its data loader, in _next_data (dataloader.py:1448)"
std::string stand_text(const ProcessLook& look);
std::string stand_words(const ProcessLook& look);  // the same without the name
model::Subject subject_of(const ProcessLook& look);
model::EvidenceItem cite(const model::Case& joined, const ProcessLook& look);

}  // namespace unhang::detect
