// SPDX-License-Identifier: Apache-2.0
//
// What the kernel has said since it was started, from /dev/kmsg: the last records of it. Never waits: what is
// there is read, and a file that is none of the kernel's cannot keep us.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unhang::os {

struct KernelRecord {
  std::int64_t since_start_us = 0;  // of the kernel, by its own clock
  std::string text;
  bool operator==(const KernelRecord&) const = default;
};

struct KernelLog {
  std::vector<KernelRecord> records;  // oldest first
  bool cut = false;                   // there were more; the oldest were dropped
};

// kNoInput where there is no such file; kUnavailable where it may not be read.
base::Result<KernelLog> read_kernel_log(const std::string& path, std::size_t max_records,
                                        std::chrono::steady_clock::time_point deadline);

// "6,1234,5678901,-;text" of /dev/kmsg. nullopt: no record (its further lines begin with a space).
std::optional<KernelRecord> parse_kmsg_record(std::string_view line);
// "[    5.678901] text" of dmesg.
std::optional<KernelRecord> parse_dmesg_line(std::string_view line);

// When the kernel's clock stood at 0, in nanoseconds since 1970. Time in suspend is not counted by that
// clock.
std::int64_t kernel_clock_start_ns();

}  // namespace unhang::os
