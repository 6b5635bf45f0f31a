// SPDX-License-Identifier: Apache-2.0
//
// One stack out of two views of the same thread: native frames, in which the interpreter hides what Python
// does, and Python frames, which do not show what is called below them.
#pragma once

#include <string_view>
#include <vector>

#include "model/process_sample.h"

namespace unhang::model {

bool has_python(const std::vector<StackFrame>& frames);
bool has_native(const std::vector<StackFrame>& frames);

// "_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx": the loop that runs Python code.
bool is_interpreter_loop(std::string_view function);

// The native frames inside the innermost round of the interpreter's loop, then the Python frames. Both
// innermost first.
std::vector<StackFrame> mixed_frames(const std::vector<StackFrame>& native,
                                     const std::vector<StackFrame>& python);

}  // namespace unhang::model
