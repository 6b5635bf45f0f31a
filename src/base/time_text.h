// SPDX-License-Identifier: Apache-2.0
//
// Times for people and for JSON: RFC 3339 in UTC.
#pragma once

#include <cstdint>
#include <string>

namespace unhang::base {

// "2026-11-29T17:00:10.123456789Z". Any value gives a text.
std::string utc_text(std::int64_t ns_since_epoch);

}  // namespace unhang::base
