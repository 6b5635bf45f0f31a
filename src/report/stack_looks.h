// SPDX-License-Identifier: Apache-2.0
//
// What `unhang stacks` merges: of each process the threads that are shown, each as a path from the outermost
// frame inward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/case.h"
#include "model/known_frame.h"

namespace unhang::report {

struct StackLook {
  std::int32_t rank = -1;  // -1: not known; then host and pid name it
  std::string host;
  std::int64_t pid = -1;
  std::string program;
  std::string thread;  // its name or number
  bool is_main = false;
  char state = '\0';
  model::StackSource source = model::StackSource::kUnknown;
  model::ThreadActivity activity;
  std::vector<model::StackFrame> path;  // outermost first; what the kernel shows stands last, as "[kernel]"
};

struct StackLooks {
  std::vector<StackLook> looks;      // by rank, then host and pid; in a process in the order of the evidence
  std::vector<std::int32_t> unseen;  // ranks of the Case without any stack, ascending
  std::vector<std::string> not_readable;  // what the kernel did not show, each once, with whose it is
  std::size_t older = 0;                  // earlier looks at the same processes, left out
};

inline constexpr std::string_view kKernelFile = "[kernel]";

// The latest look at each process: the thread that speaks for it, or all. A rank that nobody looked at is
// shown where it called the last operation that its dump has as unfinished.
StackLooks stack_looks(const model::Case& joined, bool all_threads);

// "rank 3", "gpu-b07:412", "gpu-b07:412 (VLLM::Worker_TP1)": interpreters are not named.
std::string name_of(const StackLook& look);

}  // namespace unhang::report
