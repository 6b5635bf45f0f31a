// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a document that a capture keeps: it is recognised or not, and nothing else happens.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/capture_document/capture_document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  unhang::formats::Evidence evidence;
  if (unhang::formats::capture_document::sniff(bytes))
    unhang::formats::capture_document::parse(bytes, evidence);
  return 0;
}
