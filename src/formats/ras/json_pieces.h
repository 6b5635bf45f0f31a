// SPDX-License-Identifier: Apache-2.0
//
// A JSON answer taken apart by its layout, so that a large one can be parsed a communicator at a time: the
// parser then needs memory for one of them, not for the whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::formats::ras {

struct JsonPieces {
  std::vector<std::string_view> communicators;  // views into the text
  std::string around;                           // the text with an empty list in their place
};

// nullopt where the text is not laid out as NCCL prints it (or has no communicators). What the pieces hold is
// not looked at: a text whose pieces parse is right, whatever the layout made of it.
std::optional<JsonPieces> cut_into_pieces(std::string_view object);

}  // namespace unhang::formats::ras
