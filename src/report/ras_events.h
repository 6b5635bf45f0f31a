// SPDX-License-Identifier: Apache-2.0
//
// Events of RAS, one line each.
#pragma once

#include <string>

#include "model/ras.h"

namespace unhang::report {

// "2026-11-29 15:13:42  PEER_DEAD  127.0.1.2 pid 1919 GPU 1  details", with a line break. The time is local
// to the host that told it.
std::string ras_event_line(const model::RasEvent& event);

// The same as one line of JSON; `told_by` is the service's address.
std::string ras_event_json(const model::RasEvent& event, const std::string& told_by);

}  // namespace unhang::report
