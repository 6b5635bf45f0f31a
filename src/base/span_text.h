// SPDX-License-Identifier: Apache-2.0
//
// Spans of time as people compare them: rounded, where format_duration is exact.
#pragma once

#include <cstdint>
#include <string>

namespace unhang::base {

// Two digits or more: "340 us", "2.4 ms", "51 ms", "2.5 s", "12 min", "3.1 h", "9.5 d". 0 and below: "0 us".
std::string span_text(std::int64_t nanoseconds);

// "64 B", "8 KiB", "1.5 MiB": sizes of messages, which are powers of two more often than not.
std::string bytes_text(std::int64_t bytes);

// "1.6", "12": how many times. Not finite or negative: "0".
std::string ratio_text(double ratio);
// "4 %", "0.4 %": a share of 1.
std::string percent_text(double share);

}  // namespace unhang::base
