// SPDX-License-Identifier: Apache-2.0
//
// Where a JSON object in a file ends, found by the layout of its lines, and what the same pass over the text
// tells: how many lines it has, and where its communicators end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace unhang::formats::ras {

struct ObjectSpan {
  struct Close {
    std::size_t end = 0;      // behind the bracket
    std::uint64_t lines = 0;  // line ends before it
  };

  std::string_view text;
  std::uint64_t lines = 0;    // line ends in it
  std::vector<Close> closes;  // the lines that begin with four blanks and "}"
};

// The object that begins at the first byte: up to its end when it has one, else up to what cannot belong to
// it (a line that begins another object, a text answer or an event). Linear.
ObjectSpan object_at(std::string_view bytes);

}  // namespace unhang::formats::ras
