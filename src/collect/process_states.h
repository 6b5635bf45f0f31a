// SPDX-License-Identifier: Apache-2.0
//
// Where each thread of some processes stands in the kernel, as /proc tells it: state, wait channel, system
// call, kernel stack. No tool is needed, and nobody is stopped for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/source_tally.h"
#include "model/process_sample.h"
#include "os/process_table.h"

namespace unhang::collect {

struct ProcessStateLimits {
  std::size_t threads_of_process = 2048, threads = 20'000;
};

// In the order of `processes`; those that have ended meanwhile are not in it. What could not be seen of a
// process stands in its `not_readable`.
std::vector<model::ProcessSample> read_process_states(const std::vector<os::Process>& processes,
                                                      const std::string& proc,
                                                      const ProcessStateLimits& limits, SourceTally& tally);

// 'D' of /proc/PID/stat; 0: it is none.
char state_of_stat(std::string_view stat);
// "futex" of /proc/PID/syscall; empty: it runs or is in no system call.
std::string system_call_of(std::string_view syscall);
// {"futex_wait_queue", "do_futex"} of /proc/PID/stack, innermost first.
std::vector<std::string> kernel_frames_of(std::string_view stack);

}  // namespace unhang::collect
