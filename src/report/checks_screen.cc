// SPDX-License-Identifier: Apache-2.0
#include "report/checks_screen.h"

#include <string_view>

#include <fmt/format.h>

#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::CheckReport;
using model::CheckResult;
using model::CheckStatus;

constexpr std::size_t kMostEvidence = 4;
constexpr int kLabelColumns = 9;

// The label in front says the status without colour.
std::string_view label_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kFail:
      return "FAIL";
    case CheckStatus::kWarn:
      return "WARN";
    case CheckStatus::kUnknown:
      return "UNKNOWN";
    case CheckStatus::kPass:
      break;
  }
  return "pass";
}

Style style_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kFail:
      return Style::kBad;
    case CheckStatus::kWarn:
    case CheckStatus::kUnknown:
      return Style::kWarning;
    case CheckStatus::kPass:
      break;
  }
  return Style::kGood;
}

std::string summary(const CheckReport& report) {
  const std::size_t failed = report.count(CheckStatus::kFail), warned = report.count(CheckStatus::kWarn);
  const std::size_t unknown = report.count(CheckStatus::kUnknown), good = report.count(CheckStatus::kPass);
  std::string words;
  const auto add = [&](const std::string& part) { words += (words.empty() ? "" : ", ") + part; };
  if (failed > 0) add(fmt::format("{} failed", failed));
  if (warned > 0) add(counted(warned, "warning", "warnings"));
  if (unknown > 0) add(fmt::format("{} unknown", unknown));
  if (good > 0 || words.empty()) add(fmt::format("{} passed", good));
  return report.subject + ": " + words;
}

class ChecksScreen {
 public:
  explicit ChecksScreen(const ChecksScreenOptions& options) : x_options(options) {}

  std::string render(const CheckReport& report) {
    text(summary(report), "", Style::kStrong);
    for (const std::string& note : report.notes) text("note: " + note, "", Style::kPlain);
    for (const CheckStatus status : {CheckStatus::kFail, CheckStatus::kWarn, CheckStatus::kUnknown}) {
      for (const CheckResult& result : report.results) {
        if (result.status == status) whole(result);
      }
    }
    if (x_options.verbose) passed(report);
    return paint(x_lines, x_options.color);
  }

 private:
  // Wrapped, the first line behind `label`, the others below its text.
  void text(const std::string& words, std::string_view label, Style style,
            Style label_style = Style::kLabel) {
    const int indent = label.empty() ? 0 : kLabelColumns;
    bool first = true;
    for (const std::string& line : wrap(one_line(words), x_options.width - indent)) {
      Line out;
      if (indent > 0) {
        std::string lead(first ? label : " ");
        lead.resize(kLabelColumns, ' ');
        out.push_back({std::move(lead), label_style});
      }
      out.push_back({line, style});
      x_lines.push_back(std::move(out));
      first = false;
    }
  }

  void whole(const CheckResult& result) {
    x_lines.emplace_back();
    const std::string& found = result.detail.empty() ? result.title : result.detail;
    text(found, label_of(result.status), Style::kStrong, style_of(result.status));
    std::string where;
    for (std::size_t i = 0; i < result.evidence.size() && i < kMostEvidence; ++i)
      where += (i > 0 ? ", " : "") + result.evidence[i];
    if (result.evidence.size() > kMostEvidence)
      where += fmt::format(" and {} more", result.evidence.size() - kMostEvidence);
    text((where.empty() ? "" : where + " · ") + "rule " + result.id, "  where", Style::kPlain);
    if (!result.why.empty()) text(result.why, "  why", Style::kPlain);
    fix(result.fix);
  }

  void fix(std::string_view lines) {
    bool first = true;
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      std::string lead(first ? "  mend" : "");
      lead.resize(kLabelColumns, ' ');
      x_lines.push_back(
          {{std::move(lead), Style::kLabel}, {one_line(lines.substr(0, end)), Style::kCommand}});
      lines.remove_prefix(std::min(end + 1, lines.size()));
      first = false;
    }
  }

  void passed(const CheckReport& report) {
    bool first = true;
    for (const CheckResult& result : report.results) {
      if (result.status != CheckStatus::kPass) continue;
      if (first) x_lines.emplace_back();
      first = false;
      text(result.title + (result.detail.empty() ? "" : ": " + result.detail) + " (" + result.id + ")",
           label_of(result.status), Style::kPlain, style_of(result.status));
    }
  }

  const ChecksScreenOptions& x_options;
  std::vector<Line> x_lines;
};

}  // namespace

std::string render_checks(const CheckReport& report, const ChecksScreenOptions& options) {
  return ChecksScreen(options).render(report);
}

}  // namespace unhang::report
