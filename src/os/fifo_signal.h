// SPDX-License-Identifier: Apache-2.0
//
// Writes a byte into a named pipe that a process waits at. Never creates anything, never waits, and writes
// into nothing but a pipe that belongs to that process's user: who can put files into its folder cannot lead
// us elsewhere.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace unhang::os {

// `root`: through which the path is resolved ("/proc/412/root"), without following a link; empty: our own
// file system. kNoInput where there is no such pipe, kUnavailable where nobody reads it or it may not be
// written.
base::Result<> signal_fifo(const std::string& root, const std::string& path, std::int64_t owner);

}  // namespace unhang::os
