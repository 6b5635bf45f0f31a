// SPDX-License-Identifier: Apache-2.0
//
// A labelled part of the first screen that can be said at greater or lesser length, and the fitting of all
// parts into the lines that a screen has.
#pragma once

#include <string_view>
#include <vector>

#include "report/styled.h"

namespace unhang::report {

struct Section {
  std::string_view label;                // "": the text takes the whole width
  std::vector<std::vector<Line>> forms;  // from the fullest to the barest; none: the section is not shown

  bool empty() const { return forms.empty() || forms.front().empty(); }
};

// Text in at most `most` lines and, form by form, in fewer; what is cut off ends in "…".
Section text_section(std::string_view label, std::string_view text, int width, std::size_t most,
                     Style style = Style::kPlain);

// Shortens sections in the order of their importance until they have at most `lines` lines together, then
// lays them out under their labels. Sections in their barest form are never dropped.
std::vector<Line> fitted(std::vector<Section> sections, std::size_t lines);

inline constexpr int kLabelWidth = 9;

}  // namespace unhang::report
