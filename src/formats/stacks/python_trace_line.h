// SPDX-License-Identifier: Apache-2.0
//
// The line by which Python names a frame: `  File "train.py", line 12, in train`; faulthandler leaves the
// comma before "in" out.
#pragma once

#include <optional>
#include <string_view>

#include "model/process_sample.h"

namespace unhang::formats::stacks {

// nullopt for other lines. The line begins with two blanks or with none.
std::optional<model::StackFrame> read_python_trace_line(std::string_view line);

}  // namespace unhang::formats::stacks
