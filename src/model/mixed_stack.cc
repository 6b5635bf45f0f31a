// SPDX-License-Identifier: Apache-2.0
#include "model/mixed_stack.h"

#include <algorithm>

namespace unhang::model {

bool has_python(const std::vector<StackFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const StackFrame& frame) { return frame.python; });
}

bool has_native(const std::vector<StackFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const StackFrame& frame) { return !frame.python; });
}

bool is_interpreter_loop(std::string_view function) {
  return function.starts_with("_PyEval_EvalFrame") || function.starts_with("PyEval_EvalFrame");
}

std::vector<StackFrame> mixed_frames(const std::vector<StackFrame>& native,
                                     const std::vector<StackFrame>& python) {
  const auto loop = std::find_if(native.begin(), native.end(), [](const StackFrame& frame) {
    return frame.python || is_interpreter_loop(frame.function);
  });
  std::vector<StackFrame> out(native.begin(), loop);
  out.insert(out.end(), python.begin(), python.end());
  return out;
}

}  // namespace unhang::model
