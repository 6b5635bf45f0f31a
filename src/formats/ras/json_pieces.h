// SPDX-License-Identifier: Apache-2.0
//
// A JSON answer taken apart by its layout, so that a large one can be parsed a communicator at a time: the
// parser then needs memory for one of them, not for the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/ras/object_span.h"

namespace unhang::formats::ras {

struct JsonPieces {
  struct Piece {
    std::string_view text;    // a view into the answer
    std::uint64_t lines = 0;  // line ends before it
  };

  std::vector<Piece> communicators;
  std::string around;  // the answer with an empty list in their place
};

// nullopt where the text is not laid out as NCCL prints it (or has no communicators). What the pieces hold is
// not looked at: a text whose pieces parse is right, whatever the layout made of it.
std::optional<JsonPieces> cut_into_pieces(const ObjectSpan& object);

}  // namespace unhang::formats::ras
