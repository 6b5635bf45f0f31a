// SPDX-License-Identifier: Apache-2.0
//
// How many processes of our control group (and of those below it) the kernel has killed for lack of memory
// since the group was made. Who is killed so writes nothing, and a kernel log is rarely readable in a
// container; this count is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace unhang::os {

// nullopt: no control group of either kind counts that here.
std::optional<std::int64_t> count_oom_kills(const std::string& proc = "/proc",
                                            const std::string& sys = "/sys");

}  // namespace unhang::os
