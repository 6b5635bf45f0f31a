// SPDX-License-Identifier: Apache-2.0
//
// One piece of a line's prefix: where the scanner stands, what can it be.
#pragma once

#include <array>
#include <string_view>

#include "formats/log/prefix.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {

enum class Piece : std::uint8_t {
  kNone,
  kCertain,
  kDoubtful,    // a prefix only if a certain one follows: a line number, a node's name
  kDecoration,  // of a web page or a box: taken off, says nothing
};

// What names of hosts, programs and loggers are made of.
inline constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> of_name{};
  for (std::size_t c = 0; c < of_name.size(); ++c) {
    of_name[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '_' || c == '.';
  }
  return of_name;
}();
inline bool of_name(char c) {
  return kNameBytes[static_cast<unsigned char>(c)];
}

// Moves `in` behind the piece and adds what it says to `prefix`. `doubtful_node` is set to a node's name that
// is not known yet.
Piece take_piece(Scanner& in, Prefix& prefix, const NodeNames& nodes, std::string_view& doubtful_node);

// Those that begin with "[".
Piece take_bracket(Scanner& in, Prefix& prefix);
// Those that begin with a name of a node, or a number as srun prints.
Piece take_node(Scanner& in, Prefix& prefix, const NodeNames& nodes, std::string_view& doubtful_node);
// "INFO", "[INFO]", " - INFO - ", "| WARNING |": only right behind a time.
void skip_level(Scanner& in);
bool take_level(Scanner& in);
// "file.py:466] " with or without "[" in front, "[file.py:12:function] ".
bool take_source(Scanner& in, Prefix& prefix);

}  // namespace unhang::formats::log
