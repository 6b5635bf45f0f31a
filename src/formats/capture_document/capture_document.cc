// SPDX-License-Identifier: Apache-2.0
#include "formats/capture_document/capture_document.h"

#include <algorithm>
#include <array>

namespace unhang::formats::capture_document {
namespace {

// Each with its opening quote and the slash in front of its number.
constexpr std::array<std::string_view, 3> kStems{"\"unhang.nic_counters/", "\"unhang.sockets/",
                                                 "\"unhang.system/"};

std::string_view skip_space(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

}  // namespace

// The schema stands first.
bool sniff(std::string_view bytes) {
  bytes = skip_space(bytes);
  for (const std::string_view piece :
       {std::string_view("{"), std::string_view("\"schema\""), std::string_view(":")}) {
    if (!bytes.starts_with(piece)) return false;
    bytes = skip_space(bytes.substr(piece.size()));
  }
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](std::string_view stem) { return bytes.starts_with(stem); });
}

void parse(std::string_view, Evidence&) {}

}  // namespace unhang::formats::capture_document
