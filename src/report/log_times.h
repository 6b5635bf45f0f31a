// SPDX-License-Identifier: Apache-2.0
//
// Times of logs for people and for JSON: what is not known of a clock is marked, never made up.
#pragma once

#include <string>

#include "model/log_event.h"

namespace unhang::report {

// "2026-11-30T10:51:23.100Z"; "~" at its end instead of the "Z" where the zone is not stated;
// "11-30T10:51:23.100~" without a year; "1843.308 s up"; empty: no time.
std::string log_time_text(const model::LogTime& time);

}  // namespace unhang::report
