// SPDX-License-Identifier: Apache-2.0
#include "report/details.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "report/recovery_words.h"
#include "report/text_layout.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using model::Verdict;

constexpr std::size_t kMany = 20;  // items of a section at verbosity 1
constexpr std::size_t kFew = 4;    // citations of one finding at verbosity 1

// Lines with indents and headings, at the given width.
class Page {
 public:
  Page(const TerminalOptions& options, std::string folder)
      : x_width(options.width), x_all(options.verbosity > 1), x_folder(std::move(folder)) {}

  void heading(std::string_view text) {
    x_lines.push_back({});
    x_lines.push_back({{std::string(text), Style::kLabel}});
  }

  // Wrapped text; later lines are indented two columns deeper.
  void text(int indent, std::string_view text, Style style = Style::kPlain) {
    const std::vector<std::string> lines = wrap(text, x_width - indent - 2, -2);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      x_lines.push_back({{std::string(indent + (i == 0 ? 0 : 2), ' '), Style::kPlain}, {lines[i], style}});
    }
  }

  // A command stays on one line, however long: it is there to be copied.
  void command(int indent, std::string_view command) {
    x_lines.push_back({{std::string(indent, ' ') + one_line(command), Style::kCommand}});
  }

  // How many of `size` items to show; says what is left out.
  std::size_t shown(std::size_t size, std::size_t limit) const {
    return x_all ? size : std::min(size, limit);
  }
  void left_out(int indent, std::size_t size, std::size_t shown) {
    if (size <= shown) return;
    text(indent, "… " + grouped(static_cast<std::int64_t>(size - shown)) + " more (-vv)", Style::kFaint);
  }

  int width() const { return x_width; }
  const std::string& folder() const { return x_folder; }
  std::string path(std::string_view path) const { return std::string(inside(path, x_folder)); }
  std::vector<Line> take() { return std::move(x_lines); }

 private:
  int x_width;
  bool x_all;
  std::string x_folder;  // left out of every path
  std::vector<Line> x_lines;
};

void citations(Page& page, int indent, const Verdict& v, const std::vector<model::EvidenceId>& ids,
               std::size_t limit) {
  const std::size_t count = page.shown(ids.size(), limit);
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] >= v.evidence.size()) continue;
    const model::EvidenceItem& item = v.evidence[ids[i]];
    page.text(indent, citation(item, page.folder(), 1000) + (item.text.empty() ? "" : ": " + item.text),
              Style::kFaint);
  }
  page.left_out(indent, ids.size(), count);
}

std::string listed(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (const std::string& item : items) out.append(out.empty() ? "" : separator).append(item);
  return out;
}

void subjects(Page& page, const Verdict& v, std::string_view title, const std::vector<model::Subject>& list) {
  if (list.empty()) return;
  page.heading(title);
  const std::size_t count = page.shown(list.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::Subject& s = list[i];
    page.text(2, subject_words(s) + (s.why.empty() ? "" : ": " + s.why));
    citations(page, 4, v, s.evidence, kFew);
  }
  page.left_out(2, list.size(), count);
}

void findings(Page& page, const Verdict& v) {
  if (v.findings.empty()) return;
  page.heading("findings");
  const std::size_t count = page.shown(v.findings.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::Finding& f = v.findings[i];
    page.text(2,
              f.id + "  " + std::string(model::name_of(f.category)) + " / " + std::string(f.cause) + "  (" +
                  std::string(model::name_of(f.strength)) + ")",
              Style::kStrong);
    if (!f.text.empty()) page.text(4, f.text);
    if (!f.culprits.empty()) page.text(4, "names " + listed(subjects_words(f.culprits, page.width()), ", "));
    for (const std::string& ruled_out : f.rules_out) page.text(4, "rules out: " + ruled_out);
    citations(page, 4, v, f.evidence, kFew);
  }
  page.left_out(2, v.findings.size(), count);
}

void alternatives(Page& page, const Verdict& v) {
  if (v.alternatives.empty()) return;
  page.heading("alternatives");
  for (const model::Alternative& a : v.alternatives) {
    page.text(2, std::string(model::name_of(a.category)) + " / " + std::string(a.cause), Style::kStrong);
    for (const std::string& reason : a.speaks_for) page.text(4, "for: " + reason);
    for (const std::string& reason : a.speaks_against) page.text(4, "against: " + reason);
    if (!a.decide_by.empty()) page.text(4, "decide by: " + a.decide_by);
  }
}

void stacks(Page& page, const Verdict& v, bool full) {
  if (v.stacks.empty() && v.where.stack.empty()) return;
  page.heading(full ? "stacks (innermost first)" : "stacks (first frame of user code; --stacks for all)");
  const std::size_t count = page.shown(v.stacks.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::RankStack& stack = v.stacks[i];
    const std::string label =
        stack.role + (stack.role.empty() ? "" : "  ") + counted(stack.ranks.size(), "rank", "ranks") + ": ";
    page.text(2, label + fold_within(stack.ranks, std::max(20, page.width() - 4 - columns(label))));
    for (const model::StackLine& frame : shown_frames(stack.frames, full)) {
      page.text(4, frame_words(frame), frame.user_code ? Style::kStrong : Style::kPlain);
    }
  }
  page.left_out(2, v.stacks.size(), count);
  if (!v.stacks.empty()) return;
  for (const model::StackLine& frame : shown_frames(v.where.stack, full)) page.text(4, frame_words(frame));
}

void recovery(Page& page, const Verdict& v) {
  if (v.recovery.steps.empty()) return;
  const std::string environment = environment_words(v.recovery.environment);
  page.heading("recovery level: " + spaced(model::name_of(v.recovery.level)) +
               (environment.empty() ? "" : " (" + environment + ")"));
  std::size_t number = 0;
  for (const model::RecoveryStep& step : v.recovery.steps) {
    page.text(2, std::to_string(++number) + ". " + (step.changes_the_world ? "[disruptive] " : "") +
                     reason_words(step));
    if (!step.command.empty()) page.command(5, step.command);
  }
  if (!v.recovery.retest.empty()) page.text(2, "to be tested again: " + listed(v.recovery.retest, ", "));
  const std::string lost = lost_words(v.times);
  if (!lost.empty()) page.text(2, lost + ": " + v.times.lost_basis);
}

void history(Page& page, const Verdict& v) {
  if (v.history.empty()) return;
  page.heading("history (a lead, no proof)");
  for (const model::Recurrence& recurrence : v.history) page.text(2, history_words(recurrence));
}

void coverage(Page& page, const Verdict& v) {
  if (v.coverage.empty() && v.not_asked.empty()) return;
  page.heading(v.expected_ranks == 0
                   ? "coverage (how many ranks there are, neither dumps nor RAS tell)"
                   : "coverage (" + counted(v.expected_ranks, "rank", "ranks") + " expected)");
  for (const model::CoverageLine& row : v.coverage) {
    page.text(2, row.source, Style::kStrong);
    const auto line = [&](std::string_view what, const std::vector<std::int32_t>& ranks) {
      if (ranks.empty()) return;
      std::string text = std::string(what) + grouped(static_cast<std::int64_t>(ranks.size())) + ": ";
      page.text(4, text + fold_within(ranks, page.width() - 6 - columns(text)));
    };
    line("seen        ", row.seen);
    line("incomplete  ", row.partial);
    line("unreadable  ", row.unreadable);
    line("absent      ", row.absent);
  }
  std::string missing;
  for (const std::string& source : v.not_asked) missing += (missing.empty() ? "" : ", ") + spaced(source);
  if (!missing.empty()) page.text(2, "not among the inputs: " + missing);
}

std::string milliseconds(std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string fraction = std::to_string(size / 1000 % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return (negative ? "-" : "+") + grouped(static_cast<std::int64_t>(size / 1'000'000)) + "." + fraction +
         " ms";
}

void clocks(Page& page, const Verdict& v) {
  if (v.clocks.empty()) return;
  page.heading("clock offsets");
  const std::size_t count = page.shown(v.clocks.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::ClockOffset& c = v.clocks[i];
    page.text(2, c.host + "  " + milliseconds(c.offset_ns) + ", spread " +
                     milliseconds(c.spread_ns).substr(1) + (c.basis.empty() ? "" : " (" + c.basis + ")"));
  }
  page.left_out(2, v.clocks.size(), count);
}

void progress(Page& page, const Verdict& v) {
  if (v.progress.empty()) return;
  page.heading("progress signals");
  for (const model::ProgressSignal& p : v.progress) {
    std::string text = p.signal + (p.scope.empty() ? "" : " (" + p.scope + ")") + ": ";
    text += p.usable ? "usable" : "not usable" + (p.why_not.empty() ? "" : ", " + p.why_not);
    if (!p.last_moved.empty()) text += ", last moved " + p.last_moved;
    page.text(2, text);
  }
}

void times(Page& page, const Verdict& v) {
  const auto& t = v.times;
  const auto line = [&](std::string_view what, const std::string& time, const std::string& basis = {}) {
    if (!time.empty()) page.text(2, std::string(what) + time + (basis.empty() ? "" : " (" + basis + ")"));
  };
  if (t.first_anomaly != t.stalled_since) line("first anomaly  ", t.first_anomaly);
  line("stands since   ", t.stalled_since, t.stalled_basis);
  line("detected       ", t.detected);
  line("dumped         ", t.dumped);
  line("ended          ", t.ended);
}

void timeline(Page& page, const Verdict& v) {
  if (v.timeline.empty()) return;
  page.heading("timeline");
  times(page, v);
  const std::size_t count = page.shown(v.timeline.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::TimelineEvent& e = v.timeline[i];
    page.text(2, e.time + (e.clock.empty() ? "" : " (" + e.clock + ")") +
                     (e.host.empty() ? "" : "  " + e.host) + (e.time.empty() ? "" : "  ") + e.event +
                     (e.after_the_fact ? "  (after the fact)" : ""));
  }
  page.left_out(2, v.timeline.size(), count);
}

void assumed_times(Page& page, const model::Case& evidence) {
  if (evidence.time_assumptions.empty()) return;
  page.heading("assumed of times");
  // Of many files the same: the first stands for them.
  std::vector<std::pair<const model::TimeAssumption*, std::size_t>> texts;
  for (const model::TimeAssumption& assumed : evidence.time_assumptions) {
    if (assumed.input >= evidence.inputs.size()) continue;
    const auto known = std::find_if(texts.begin(), texts.end(),
                                    [&](const auto& text) { return text.first->text == assumed.text; });
    if (known == texts.end()) {
      if (texts.size() < 4 * kMany) texts.emplace_back(&assumed, 1);
    } else {
      ++known->second;
    }
  }
  const std::size_t count = page.shown(texts.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [first, files] = texts[i];
    std::string text = page.path(evidence.inputs[first->input].path);
    if (files > 1) text += " and " + counted(files - 1, "other file", "other files");
    page.text(2, text + ": " + first->text);
  }
  page.left_out(2, texts.size(), count);
}

void set_aside(Page& page, const model::Case& evidence) {
  if (evidence.set_aside.empty()) return;
  page.heading("set aside (not of this job or run, or there twice)");
  const std::size_t count = page.shown(evidence.set_aside.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::SetAside& aside = evidence.set_aside[i];
    if (aside.input >= evidence.inputs.size()) continue;
    page.text(2, page.path(evidence.inputs[aside.input].path) + ": " + aside.reason);
  }
  page.left_out(2, evidence.set_aside.size(), count);
}

std::string_view word_of(model::Severity severity) {
  switch (severity) {
    case model::Severity::kInfo:
      return "note";
    case model::Severity::kError:
      return "error";
    case model::Severity::kDataLoss:
      return "lost";
  }
  return "error";
}

void problems(Page& page, const model::Case& evidence) {
  struct Item {
    const model::Input* input;
    const model::ImportProblem* problem;
  };
  std::vector<Item> items;
  for (const model::Input& input : evidence.inputs) {
    for (const model::ImportProblem& problem : input.problems) items.push_back({&input, &problem});
  }
  // The worst first; within one severity in the order of the inputs.
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return static_cast<int>(a.problem->severity) > static_cast<int>(b.problem->severity);
  });
  if (items.empty()) return;
  page.heading("problems with inputs");
  const std::size_t count = page.shown(items.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::ImportProblem& p = *items[i].problem;
    std::string text = std::string(word_of(p.severity)) + "  " + page.path(items[i].input->path);
    if (p.offset) text += " byte " + std::to_string(*p.offset);
    text += ": " + p.text;
    if (p.bytes_lost > 0) text += " (" + grouped(static_cast<std::int64_t>(p.bytes_lost)) + " bytes lost)";
    page.text(2, text + " [" + p.code + "]");
  }
  page.left_out(2, items.size(), count);
}

void conflicts(Page& page, const model::Case& evidence) {
  if (evidence.conflicts.empty()) return;
  page.heading("contradictions about who is who");
  const std::size_t count = page.shown(evidence.conflicts.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) {
    const model::Conflict& conflict = evidence.conflicts[i];
    const std::string path =
        conflict.input < evidence.inputs.size() ? page.path(evidence.inputs[conflict.input].path) + ": " : "";
    page.text(2, path + conflict.text);
  }
  page.left_out(2, evidence.conflicts.size(), count);
}

void unseen(Page& page, const Verdict& v, const model::Case* evidence) {
  const std::vector<std::string> items = unseen_words(v, evidence, page.width());
  if (items.empty()) return;
  page.heading("not seen");
  const std::size_t count = page.shown(items.size(), kMany);
  for (std::size_t i = 0; i < count; ++i) page.text(2, items[i]);
  page.left_out(2, items.size(), count);
}

}  // namespace

std::vector<Line> details(const Verdict& v, const TerminalOptions& options) {
  Page page(options, common_folder(v, options.evidence));
  if (!page.folder().empty()) {
    page.heading("files");
    page.text(2, "named from " + page.folder());
  }
  subjects(page, v, "culprits", v.culprits);
  subjects(page, v, "suspects (not proven)", v.suspects);
  findings(page, v);
  alternatives(page, v);
  stacks(page, v, options.full_stacks);
  recovery(page, v);
  history(page, v);
  progress(page, v);
  timeline(page, v);
  coverage(page, v);
  unseen(page, v, options.evidence);
  clocks(page, v);
  if (options.evidence != nullptr) {
    assumed_times(page, *options.evidence);
    conflicts(page, *options.evidence);
    set_aside(page, *options.evidence);
    problems(page, *options.evidence);
  }
  return page.take();
}

}  // namespace unhang::report
