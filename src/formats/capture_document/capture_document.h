// SPDX-License-Identifier: Apache-2.0
//
// Documents that a capture keeps for people and their own tools: counters of the network, sockets and limits
// of the workers (docs/formats/capture_documents.md). They are known, so that they are not taken for logs;
// nothing is concluded from them.
#pragma once

#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::capture_document {

bool sniff(std::string_view bytes);
void parse(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::capture_document
