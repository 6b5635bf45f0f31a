// SPDX-License-Identifier: Apache-2.0
//
// Answers and events of NCCL's RAS service, as ncclras, nc or unhang itself saved them. The three formats
// differ in how a file begins; one file may hold any of them in any order (a log of polls, a connection that
// ended in STATUS), so all three parse functions read all of them.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::ras {

// The text form of an answer, or what the service says before one.
bool sniff_text(std::string_view bytes);
void parse_text(std::string_view bytes, Evidence& evidence);

// The JSON form (2.28.7 and later), also behind protocol lines and banners.
bool sniff_json(std::string_view bytes);
void parse_json(std::string_view bytes, Evidence& evidence);

// What MONITOR sends (2.29.2 and later), as text or JSON.
bool sniff_events(std::string_view bytes);
void parse_events(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::ras
