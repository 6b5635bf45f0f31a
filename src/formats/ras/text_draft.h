// SPDX-License-Identifier: Apache-2.0
//
// A text answer while it is being read: the values as the lines give them, in the order of the lines, before
// text_conclusions.h puts them together.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/ras/reading.h"
#include "model/ras.h"

namespace unhang::formats::ras {

struct TextDraft {
  // Its communicators hold a record for each line that tells of a rank: several for one rank, in any order.
  model::RasAnswer answer;
  bool cut = false;                      // ends in the middle of a line
  bool strange = false;                  // lines in its blocks that are not known: nothing is deduced
  bool mixed = false;                    // two reports run through each other
  std::vector<bool> status_paragraph;    // by communicator: its ranks' statuses are told apart
  std::vector<bool> mismatch_paragraph;  // by communicator: it has a block of any difference
};

}  // namespace unhang::formats::ras
