// SPDX-License-Identifier: Apache-2.0
#include "report/launch_screen.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/env_line.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::LaunchFacts;
using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchReport;
using model::LaunchRun;

constexpr int kLabelColumns = 9;
constexpr std::size_t kMostEvidence = 4;
constexpr std::size_t kWidestName = 25;  // the rest of a row takes 55 columns

// The first word says how it ended, without colour.
std::string_view first_word(const LaunchRun& run) {
  switch (run.stage.movement) {
    case LaunchMovement::kEnded:
      return run.facts.signal != 0 ? "KILLED" : run.facts.exit_code == 0 ? "ENDED" : "FAILED";
    case LaunchMovement::kAdvancing:
      return "ADVANCES";
    case LaunchMovement::kPrinting:
      return "STARTING";
    case LaunchMovement::kStanding:
      return "STOPPED";
    case LaunchMovement::kSilent:
    case LaunchMovement::kUnknown:
      break;
  }
  return "UNKNOWN";
}
Style style_of(const LaunchRun& run) {
  switch (run.stage.movement) {
    case LaunchMovement::kEnded:
      return run.facts.signal == 0 && run.facts.exit_code == 0 ? Style::kGood : Style::kBad;
    case LaunchMovement::kAdvancing:
    case LaunchMovement::kPrinting:
      return Style::kGood;
    case LaunchMovement::kStanding:
      return Style::kBad;
    default:
      return Style::kWarning;
  }
}

std::string short_place(const LaunchRun& run) {
  switch (run.stage.place) {
    case LaunchPlace::kBeforeNccl:
      return "before NCCL";
    case LaunchPlace::kNcclInit:
      return "NCCL init";
    case LaunchPlace::kAfterInit:
      return "after init";
    case LaunchPlace::kFirstCollective:
      return "first collective";
    case LaunchPlace::kRunning:
      return "running";
    case LaunchPlace::kUnknown:
      break;
  }
  return "not known";
}

std::string ended_as(const LaunchRun& run) {
  switch (run.stage.movement) {
    case LaunchMovement::kEnded:
      if (run.facts.signal != 0) return fmt::format("signal {}", run.facts.signal);
      return fmt::format("ended ({})", run.facts.exit_code);
    case LaunchMovement::kAdvancing:
      return "advances";
    case LaunchMovement::kPrinting:
      return "prints";
    case LaunchMovement::kStanding:
      return "stands";
    default:
      return "silent";
  }
}

std::string time_or_dash(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.1f} s", *seconds) : "-";
}
std::string speed_or_dash(const LaunchFacts& facts) {
  return facts.throughput ? fmt::format("{:.4g} {}", *facts.throughput, facts.throughput_unit) : "-";
}

class Screen {
 public:
  explicit Screen(const LaunchScreenOptions& options) : x_options(options) {}

  std::string render(const LaunchReport& report) {
    const LaunchRun& base = report.base;
    text(base.stage.headline, first_word(base), Style::kStrong, style_of(base));
    seen(base);
    times(base);
    if (report.verdict && report.verdict->category != model::Category::kInconclusive &&
        !repeats_the_end(report))
      verdict(*report.verdict);
    if (!report.trials.empty()) trials(report);
    list("RULED OUT", report.ruled_out);
    if (!base.facts.left.empty()) list("LEFT", base.facts.left);
    std::vector<std::string> notes = report.notes;
    notes.insert(notes.end(), base.facts.notes.begin(), base.facts.notes.end());
    list("NOTE", notes);
    list("NOT SEEN", base.stage.not_seen);
    if (base.readable) command("unhang diagnose " + base::shell_quoted(base.folder), "NEXT");
    return paint(x_lines, x_options.color);
  }

 private:
  // Wrapped, the first line behind `label`, the others below its text.
  void text(std::string_view words, std::string_view label, Style style, Style label_style = Style::kLabel) {
    const int column = std::max(kLabelColumns, columns(label) + 1);
    bool first = true;
    for (std::string& line : wrap(words, x_options.width - kLabelColumns, column - kLabelColumns)) {
      const int pad = first ? column - columns(label) : kLabelColumns;
      x_lines.push_back({{first ? std::string(label) : "", label_style},
                         {std::string(static_cast<std::size_t>(pad), ' '), Style::kPlain},
                         {std::move(line), style}});
      first = false;
    }
  }
  void list(std::string_view label, const std::vector<std::string>& items) {
    bool first = true;
    for (const std::string& item : items) {
      text(one_line(item), first ? label : "", Style::kPlain);
      first = false;
    }
  }
  // Never wrapped: it is to be copied.
  void command(const std::string& words, std::string_view label) {
    x_lines.push_back(
        {{fmt::format("{:<{}}", label, kLabelColumns), Style::kLabel}, {one_line(words), Style::kCommand}});
  }

  void seen(const LaunchRun& run) {
    bool first = true;
    std::size_t shown = 0;
    for (const model::EvidenceItem& item : run.stage.evidence) {
      if (shown++ >= kMostEvidence) break;
      std::string file = item.file;
      if (file.starts_with(run.folder + "/")) file = file.substr(run.folder.size() + 1);
      if (item.line) file += fmt::format(":{}", *item.line);
      text(file + "  " + item.text, first ? "SEEN" : "", Style::kPlain);
      first = false;
    }
    if (!run.facts.last_line.empty())
      text("last line printed: " + run.facts.last_line, first ? "SEEN" : "", Style::kPlain);
  }

  void times(const LaunchRun& run) {
    const LaunchFacts& facts = run.facts;
    std::string words = fmt::format("ran {:.1f} s of {:g} s", facts.ran_s, facts.limit_s);
    words += facts.nccl_began_s ? fmt::format("; NCCL began at {:.1f} s", *facts.nccl_began_s)
                                : "; NCCL wrote nothing";
    if (facts.nccl_ready_s) words += fmt::format(", was ready at {:.1f} s", *facts.nccl_ready_s);
    if (facts.first_call_s) words += fmt::format(", first collective at {:.1f} s", *facts.first_call_s);
    if (facts.throughput) words += "; " + speed_or_dash(facts);
    if (!facts.ended) words += "; " + counted(facts.processes, "process", "processes");
    if (facts.killed) words += ", some had to be killed";
    text(words, "TIMES", Style::kPlain);
  }

  // The first line says already how it ended.
  static bool repeats_the_end(const LaunchReport& report) {
    const auto& findings = report.verdict->findings;
    return report.base.facts.ended && findings.size() == 1 && findings.front().id.starts_with("command_end");
  }

  void verdict(const model::Verdict& found) {
    text(fmt::format("{}/{} ({} confidence): {}", model::name_of(found.category), found.cause,
                     model::name_of(found.confidence), found.headline),
         "VERDICT", Style::kPlain);
  }

  void trials(const LaunchReport& report) {
    std::size_t widest = 12;
    for (const LaunchRun& trial : report.trials) widest = std::max(widest, trial.change.size());
    const int first = static_cast<int>(std::min<std::size_t>(widest, kWidestName));
    row(first, "TRIAL", "stopped", "how", "NCCL ready", "speed", Style::kLabel);
    row_of(first, report.base, "(as it is)");
    for (const LaunchRun& trial : report.trials) row_of(first, trial, trial.change);
    for (const LaunchRun& trial : report.trials) text(trial.change + ": " + trial.outcome, "", Style::kPlain);
  }
  void row_of(int first, const LaunchRun& run, const std::string& name) {
    row(first, name, short_place(run), ended_as(run), time_or_dash(run.facts.nccl_ready_s),
        speed_or_dash(run.facts), Style::kPlain);
  }
  void row(int first, const std::string& name, const std::string& place, const std::string& how,
           const std::string& ready, const std::string& speed, Style style) {
    const std::string shown = cut(one_line(name), first);
    x_lines.push_back({{fmt::format("{}{} {:<16} {:<10} {:>10} {:>14}", shown,
                                    std::string(static_cast<std::size_t>(first - columns(shown)), ' '), place,
                                    how, ready, cut(one_line(speed), 14)),
                        style}});
  }

  LaunchScreenOptions x_options;
  std::vector<Line> x_lines;
};

}  // namespace

std::string render_launch(const LaunchReport& report, const LaunchScreenOptions& options) {
  return Screen(options).render(report);
}

}  // namespace unhang::report
