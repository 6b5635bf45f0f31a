// SPDX-License-Identifier: Apache-2.0
//
// How a command ends that cannot do what was asked.
#pragma once

#include "base/result.h"
#include "cli/streams.h"

namespace unhang::cli {

// Says what went wrong on `err` and returns the exit code that belongs to it.
int complain(Streams& streams, const base::Error& error);

}  // namespace unhang::cli
