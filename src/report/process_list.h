// SPDX-License-Identifier: Apache-2.0
//
// The processes of a job as a tree: which rank each is, how the kernel has it, and what its main thread does.
// Pure: a Case in, text out.
#pragma once

#include <string>

#include "model/case.h"

namespace unhang::report {

struct ProcessListOptions {
  int width = 80;
  bool color = false;
  bool environment = false;  // below each its variables, as far as a bundle keeps them
};

// Empty where the Case has no look at a process. Of each process its latest look; at most some hundred rows.
std::string render_processes(const model::Case& joined, const ProcessListOptions& options);

}  // namespace unhang::report
