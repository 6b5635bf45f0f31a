// SPDX-License-Identifier: Apache-2.0
//
// A file of the RAS service from its beginning to its end: text answers, JSON objects, events and the lines
// of the protocol between them, in any order.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::ras {

void read_stream(std::string_view bytes, Evidence& evidence);

// The bytes of the JSON object that begins at the first byte: up to its end when it has one, else up to what
// cannot belong to it (a line that begins another object, a text answer or an event). Linear.
std::string_view object_at(std::string_view bytes);

}  // namespace unhang::formats::ras
