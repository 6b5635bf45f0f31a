// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <algorithm>
#include <string_view>

#include "report/details.h"
#include "report/first_screen.h"
#include "report/styled.h"

namespace unhang::report {
namespace {

// The one place that knows colours: basic ones, which stay readable on dark and light backgrounds.
std::string_view escape_of(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kLabel:
      return "\x1b[36m";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kBad:
      return "\x1b[1;31m";
    case Style::kWarning:
      return "\x1b[1;33m";
    case Style::kGood:
      return "\x1b[1;32m";
    case Style::kCommand:
      return "\x1b[1m";
    case Style::kFaint:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string paint(const std::vector<Line>& lines, bool color) {
  std::string out;
  for (const Line& line : lines) {
    const std::size_t start = out.size();
    for (const Span& span : line) {
      const std::string_view escape =
          color && !span.text.empty() ? escape_of(span.style) : std::string_view{};
      out.append(escape).append(span.text);
      if (!escape.empty()) out += "\x1b[0m";
    }
    while (out.size() > start && out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

std::string render_terminal(const model::Verdict& verdict, const TerminalOptions& wanted) {
  TerminalOptions options = wanted;
  options.width = std::max(options.width, kNarrowest);
  std::vector<Line> lines = first_screen(verdict, options);
  if (options.verbosity > 0) {
    std::vector<Line> more = details(verdict, options);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return paint(lines, options.color);
}

}  // namespace unhang::report
