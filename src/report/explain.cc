// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <algorithm>

#include "base/similar.h"
#include "report/styled.h"
#include "report/terminal.h"
#include "report/text_layout.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using model::CauseInfo;

constexpr std::size_t kMostCategories = 4;  // with more it is of any category
constexpr std::string_view kNoBreak = "\xc2\xa0";

// The parts of every explanation, in this order everywhere.
struct Part {
  std::string_view title;
  std::string_view CauseInfo::*text;
};
constexpr Part kParts[] = {{"What it is", &CauseInfo::means},
                           {"How it shows", &CauseInfo::shows},
                           {"How to be sure", &CauseInfo::confirm},
                           {"What to do", &CauseInfo::fix}};

// Lines of `width` columns in which a `command` that fits on a line is not broken.
std::vector<std::string> wrap_with_commands(std::string_view text, int width) {
  std::string joined;
  while (!text.empty()) {
    const bool command = text.front() == '`';
    const std::size_t end = command ? text.find('`', 1) : text.find('`');
    const std::string_view piece =
        text.substr(0, end == std::string_view::npos ? end : end + (command ? 1 : 0));
    const bool keep = command && columns(piece) + 2 <= width;
    for (const char c : piece) {
      if (c == ' ' && keep) {
        joined += kNoBreak;
      } else {
        joined += c;
      }
    }
    text.remove_prefix(piece.size());
  }
  std::vector<std::string> lines = wrap(joined, width);
  for (std::string& line : lines) {
    for (std::size_t at = 0; (at = line.find(kNoBreak, at)) != std::string::npos;)
      line.replace(at, kNoBreak.size(), " ");
  }
  return lines;
}

// The line with what stands between backquotes as commands; `inside` carries over to the next line.
Line with_commands(std::string_view line, bool& inside) {
  Line out = {{"  ", Style::kPlain}};
  while (!line.empty()) {
    const std::size_t mark = line.find('`');
    const std::string_view piece = line.substr(0, mark);
    out.push_back({std::string(piece), inside ? Style::kCommand : Style::kPlain});
    if (mark == std::string_view::npos) break;
    out.push_back({"`", Style::kPlain});
    inside = !inside;
    line.remove_prefix(mark + 1);
  }
  return out;
}

std::string categories_of(const CauseInfo& cause) {
  if (cause.categories.size() > kMostCategories) return "any category";
  std::string out;
  for (const model::Category category : cause.categories) {
    out.append(out.empty() ? "" : ", ").append(model::name_of(category));
  }
  return out;
}

std::string recovery_of(const CauseInfo& cause) {
  const std::string level = spaced(model::name_of(cause.recovery));
  return cause.isolates_node ? level + "; the node may be taken out of service" : level;
}

// Text of the catalogue as Markdown: what stands between backquotes is code already.
std::string prose_markdown(std::string_view text) {
  std::string out;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t mark = text.find('`');
    const std::string_view piece = text.substr(0, mark);
    out += inside ? "`" + std::string(piece) + "`" : markdown_text(piece);
    if (mark == std::string_view::npos) break;
    inside = !inside;
    text.remove_prefix(mark + 1);
  }
  return out;
}

constexpr model::Category kOrder[] = {model::Category::kInitializationHang,
                                      model::Category::kCollectiveDesync,
                                      model::Category::kTransportStall,
                                      model::Category::kPerformanceDegradation,
                                      model::Category::kProcessOrDeviceUnavailable,
                                      model::Category::kNotCommunication,
                                      model::Category::kHealthy};

// The causes whose first category is this one; that of any category stands with kHealthy, at the end.
std::vector<const CauseInfo*> listed_under(model::Category category) {
  std::vector<const CauseInfo*> out;
  for (const CauseInfo& cause : model::cause_catalogue()) {
    if (cause.categories.front() == category) out.push_back(&cause);
  }
  return out;
}

// Those that the list of a category should name, too: of no use for a cause of any category.
std::vector<const CauseInfo*> also_under(model::Category category) {
  std::vector<const CauseInfo*> out;
  for (const CauseInfo& cause : model::cause_catalogue()) {
    const auto& of = cause.categories;
    if (of.size() <= kMostCategories && of.front() != category &&
        std::find(of.begin(), of.end(), category) != of.end())
      out.push_back(&cause);
  }
  return out;
}

std::string heading_of(model::Category category) {
  return category == model::Category::kHealthy ? "harmless, or not known" : spaced(model::name_of(category));
}

}  // namespace

std::string render_cause(const CauseInfo& cause, int wanted_width, bool color) {
  const int width = std::max(wanted_width, kNarrowest);
  std::vector<Line> lines = {{{std::string(cause.code), Style::kStrong}}};
  for (std::string& text : wrap(cause.title, width)) lines.push_back({{std::move(text), Style::kPlain}});
  for (const Part& part : kParts) {
    lines.push_back({});
    lines.push_back({{std::string(part.title), Style::kLabel}});
    bool inside = false;
    for (const std::string& text : wrap_with_commands(cause.*part.text, width - 2)) {
      lines.push_back(with_commands(text, inside));
    }
  }
  lines.push_back({});
  for (const auto& [label, text] :
       {std::pair<std::string, std::string>{"category      ", categories_of(cause)},
        {"fault domain  ", spaced(model::name_of(cause.fault_domain))},
        {"recovery      ", recovery_of(cause)}}) {
    lines.push_back({{label, Style::kLabel}, {cut(text, width - columns(label)), Style::kPlain}});
  }
  return paint(lines, color);
}

std::string render_cause_list(int wanted_width, bool color) {
  const int width = std::max(wanted_width, kNarrowest);
  std::size_t widest = 0;
  for (const CauseInfo& cause : model::cause_catalogue()) widest = std::max(widest, cause.code.size());
  std::vector<Line> lines;
  for (const model::Category category : kOrder) {
    if (!lines.empty()) lines.push_back({});
    lines.push_back({{heading_of(category), Style::kLabel}});
    for (const CauseInfo* cause : listed_under(category)) {
      std::string code = "  " + std::string(cause->code);
      code.resize(widest + 4, ' ');
      for (std::string& text : wrap(cause->title, std::max(width - columns(code), 8))) {
        lines.push_back({{code, Style::kStrong}, {std::move(text), Style::kPlain}});
        code.assign(code.size(), ' ');
      }
    }
    const std::vector<const CauseInfo*> others = also_under(category);
    if (others.empty()) continue;
    std::string also;
    for (const CauseInfo* cause : others) also += (also.empty() ? "also: " : ", ") + std::string(cause->code);
    for (std::string& text : wrap(also, width - 2))
      lines.push_back({{"  ", Style::kPlain}, {std::move(text), Style::kFaint}});
  }
  return paint(lines, color);
}

std::string render_causes_markdown() {
  std::string out =
      "# Causes\n\n"
      "Every cause that a verdict can name: what it means, how it shows, how to be sure, and what to do. The "
      "same text\n"
      "is in the program: `unhang explain CODE`. This page is made from the catalogue in "
      "`src/model/causes/`, and a\n"
      "test compares the two; edit the catalogue, not this page.\n\n"
      "In commands, `PID`, `HOST`, `DEV`, `PORT` and other words in capitals are yours to fill in.\n";
  for (const model::Category category : kOrder) {
    const std::vector<const CauseInfo*> causes = listed_under(category);
    out += "\n- " + heading_of(category) + ": ";
    for (const CauseInfo* cause : causes) {
      const std::string code(cause->code);
      out += (cause == causes.front() ? "[" : ", [") + code + "](#" + code + ")";
    }
    const std::vector<const CauseInfo*> others = also_under(category);
    for (const CauseInfo* cause : others) {
      const std::string code(cause->code);
      out += (cause == others.front() ? "; also [" : ", [") + code + "](#" + code + ")";
    }
  }
  out += "\n";
  for (const model::Category category : kOrder) {
    out += "\n## " + capitalised(heading_of(category)) + "\n";
    for (const CauseInfo* cause : listed_under(category)) {
      out +=
          "\n### " + std::string(cause->code) + "\n\n" + capitalised(prose_markdown(cause->title)) + ".\n\n";
      for (const Part& part : kParts) {
        out += "- **" + std::string(part.title) + "**: " + prose_markdown(cause->*part.text) + "\n";
      }
      out += "- **Category**: " + categories_of(*cause) +
             ". **Fault domain**: " + spaced(model::name_of(cause->fault_domain)) +
             ". **Recovery**: " + recovery_of(*cause) + ".\n";
    }
  }
  return out;
}

std::vector<std::string_view> similar_causes(std::string_view code) {
  std::vector<std::string_view> codes;
  for (const CauseInfo& cause : model::cause_catalogue()) codes.push_back(cause.code);
  return base::similar_words(code, codes);
}

}  // namespace unhang::report
