// SPDX-License-Identifier: Apache-2.0
//
// Plots of one line for a terminal: in block characters where it shows UTF-8, else in ASCII.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace unhang::report {

// A character for each value, oldest first; where they are more than `width`, one for the median of as many
// as share it. The lowest character is 0 where `from_zero`, else the smallest value; what is not finite is a
// blank.
std::string sparkline(std::span<const double> values, int width, bool unicode, bool from_zero = true);

// `share` of `width` characters, at least one where it is not 0.
std::string bar(double share, int width, bool unicode);

}  // namespace unhang::report
