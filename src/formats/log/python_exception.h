// SPDX-License-Identifier: Apache-2.0
//
// The end of a Python traceback: "module.Type: message". Which of these are exceptions of the program, and
// which only carry what another family reads (NCCL's errors, the store's, dead actors).
#pragma once

#include <string_view>

#include "formats/log/facts.h"

namespace unhang::formats::log {

struct PythonException {
  std::string_view type;     // "torch.OutOfMemoryError"; empty: the line is none
  std::string_view message;  // "" when the line ends with the type
};

// `anywhere`: no traceback stands in front, so only "SomeError: message" counts.
PythonException read_python_exception(std::string_view line, bool anywhere);

// Whether a family reads these words wherever they stand.
bool told_elsewhere(const PythonException& exception);

// Adds what the exception is: memory of the GPU, a key that somebody pressed, an exit, or an exception.
void add_python_exception(const PythonException& exception, const Line& line, Facts& facts);

}  // namespace unhang::formats::log
