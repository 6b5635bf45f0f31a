// SPDX-License-Identifier: Apache-2.0
#include "report/section.h"

#include <string>

#include "report/text_layout.h"

namespace unhang::report {
namespace {

// Who gives way first, and down to how many lines in this turn.
struct Turn {
  std::string_view label;
  std::size_t down_to;
};
constexpr Turn kTurns[] = {{"evidence", 2}, {"why", 1},     {"not seen", 1}, {"where", 1},
                           {"decide", 1},   {"", 2},        {"evidence", 1}, {"since", 0},
                           {"who", 1},      {"suspect", 1}, {"do next", 1},  {"", 1}};

void shorten(std::vector<Section>& sections, std::size_t lines) {
  const auto total = [&] {
    std::size_t sum = 0;
    for (const Section& section : sections) sum += section.forms.front().size();
    return sum;
  };
  for (const Turn& turn : kTurns) {
    for (Section& section : sections) {
      if (section.label != turn.label) continue;
      while (total() > lines && section.forms.size() > 1 && section.forms.front().size() > turn.down_to) {
        section.forms.erase(section.forms.begin());
      }
    }
  }
}

}  // namespace

Section text_section(std::string_view label, std::string_view text, int width, std::size_t most,
                     Style style) {
  Section section{label, {}};
  if (text.empty()) return section;
  const std::vector<std::string> all = wrap(text, width);
  for (std::size_t limit = std::min(most, all.size()); limit > 0; --limit) {
    std::vector<Line> form;
    for (std::size_t i = 0; i < limit; ++i) {
      const bool lost = i + 1 == limit && all.size() > limit;
      form.push_back({{lost ? cut(all[i] + " …", width) : all[i], style}});
    }
    section.forms.push_back(std::move(form));
  }
  return section;
}

std::vector<Line> fitted(std::vector<Section> sections, std::size_t lines) {
  std::erase_if(sections, [](const Section& section) { return section.empty(); });
  shorten(sections, lines);
  std::vector<Line> out;
  for (const Section& section : sections) {
    bool first = true;
    for (const Line& line : section.forms.front()) {
      Line whole;
      if (!section.label.empty()) {
        std::string label(first ? section.label : "");
        label.resize(kLabelWidth, ' ');
        whole.push_back({std::move(label), Style::kLabel});
      }
      whole.insert(whole.end(), line.begin(), line.end());
      out.push_back(std::move(whole));
      first = false;
    }
  }
  return out;
}

}  // namespace unhang::report
