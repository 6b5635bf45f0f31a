// SPDX-License-Identifier: Apache-2.0
//
// The texts of system errors, as glibc's strerror() gives them and logs repeat them.
#pragma once

#include <cstdint>
#include <string_view>

namespace unhang::formats::log {

// The number (Linux) of the error whose text stands in `text`; 0 when none does.
std::int64_t errno_in(std::string_view text);

}  // namespace unhang::formats::log
