// SPDX-License-Identifier: Apache-2.0
//
// Native stacks: what gdb prints for `thread apply all bt` (with `py-bt` of python-gdb.py beside it), and
// pstack and eu-stack in much the same form.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::stacks {

bool sniff_backtrace(std::string_view bytes);

// Threads without a process above them make one whose pid is that of the main thread, gdb's "Thread 1".
void parse_backtrace(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::stacks
