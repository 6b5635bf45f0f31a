// SPDX-License-Identifier: Apache-2.0
//
// The slow report for a person at a terminal: what is slow, who comes last, transfers and steps over time,
// the matrix of pairs, and what could not be judged. Pure; readable without colour.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "model/slow_report.h"

namespace unhang::report {

struct SlowOptions {
  int width = 80;  // no line is longer
  bool color = false;
  bool unicode = true;   // plots in block characters, else in ASCII
  std::size_t top = 10;  // rows of each table; 0: all
};

// `joined` is the Case that the report was made of.
std::string render_slow(const model::Case& joined, const model::SlowReport& report,
                        const SlowOptions& options);

// Schema unhang.slow/1. `top` as above; 0: all.
void slow_json(const model::Case& joined, const model::SlowReport& report, std::size_t top,
               const std::function<void(std::string_view)>& sink);

}  // namespace unhang::report
