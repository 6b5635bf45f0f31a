// SPDX-License-Identifier: Apache-2.0
//
// A file of the RAS service from its beginning to its end: text answers, JSON objects, events and the lines
// of the protocol between them, in any order.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::ras {

void read_stream(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::ras
