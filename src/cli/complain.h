// SPDX-License-Identifier: Apache-2.0
//
// What a command says beside its result: what it does, and how it ends that cannot do what was asked.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/streams.h"

namespace unhang::cli {

// Says what went wrong on `err` and returns the exit code that belongs to it.
int complain(Streams& streams, const base::Error& error);

// One sentence on `err`, wrapped to the width of the output. Paths and commands in it that are to be copied
// stand at its end or on lines of their own: what is too long for a line is broken.
void say(Streams& streams, std::string_view text);

}  // namespace unhang::cli
