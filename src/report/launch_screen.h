// SPDX-License-Identifier: Apache-2.0
//
// What `unhang probe` says of a launch: where it stood, by what, what a verdict of its evidence is, and, of
// experiments, a table of what each changed.
#pragma once

#include <string>

#include "model/launch.h"

namespace unhang::report {

struct LaunchScreenOptions {
  int width = 80;
  bool color = false;
};

std::string render_launch(const model::LaunchReport& report, const LaunchScreenOptions& options);

// Schema unhang.probe/1.
std::string launch_json(const model::LaunchReport& report);

}  // namespace unhang::report
