// SPDX-License-Identifier: Apache-2.0
//
// The time stamp in a RAS answer: "2026-11-29 15:01:29", local time of the answering host. Its zone is not
// stated, so it is read as if it were UTC and compares only with others of its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unhang::join {

// Nanoseconds since 1970; nullopt for anything that is not such a date.
std::optional<std::int64_t> read_local_time(std::string_view text);

}  // namespace unhang::join
