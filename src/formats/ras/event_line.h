// SPDX-License-Identifier: Apache-2.0
//
// One line of MONITOR's text form.
#pragma once

#include <optional>
#include <string_view>

#include "model/ras.h"

namespace unhang::formats::ras {

// "[2026-11-29 15:13:42] PEER_DEAD: Process 1919 on node 127.0.1.2 managing GPU 1 …"; nullopt for other
// lines. Where the line names no process, what stands behind the colon is the event's details.
std::optional<model::RasEvent> read_event_line(std::string_view text);

}  // namespace unhang::formats::ras
