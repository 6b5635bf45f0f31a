// SPDX-License-Identifier: Apache-2.0
//
// Lines with named styles, before they become bytes. What a style looks like is decided in terminal.cc alone;
// without colour the text says the same.
#pragma once

#include <string>
#include <vector>

namespace unhang::report {

enum class Style { kPlain, kLabel, kStrong, kBad, kWarning, kGood, kCommand, kFaint };

struct Span {
  std::string text;  // harmless (text_layout.h)
  Style style = Style::kPlain;
};

using Line = std::vector<Span>;

// The bytes of the lines, each ended by a line break. With `color`, spans carry ANSI escapes (in
// terminal.cc).
std::string paint(const std::vector<Line>& lines, bool color);

}  // namespace unhang::report
