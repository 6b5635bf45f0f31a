// SPDX-License-Identifier: Apache-2.0
//
// Times for people and for JSON: RFC 3339 in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unhang::base {

// "2026-11-29T17:00:10.123456789Z". Any value gives a text.
std::string utc_text(std::int64_t ns_since_epoch);

// Reads it back: "2026-11-29T17:00:10Z" with up to 9 digits behind the seconds. nullopt for everything else,
// also for days that no month has and for times outside the 64 bits.
std::optional<std::int64_t> parse_utc(std::string_view text);

}  // namespace unhang::base
