// SPDX-License-Identifier: Apache-2.0
//
// Makes sure that a debugger that was killed leaves nobody stopped: the kernel lets go of the process, but a
// stop that was on its way can stay.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace unhang::os {

// 'T' of /proc/PID/stat; 0: no such process.
char state_of_process(std::int64_t pid, const std::string& proc = "/proc");

// Looks for `patience` whether the process stands still (state T) and continues it. True: it had to.
bool continue_stopped(std::int64_t pid, std::chrono::milliseconds patience);

}  // namespace unhang::os
