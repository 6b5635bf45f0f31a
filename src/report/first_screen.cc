// SPDX-License-Identifier: Apache-2.0
#include "report/first_screen.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "report/text_layout.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using model::Category;
using model::State;
using model::Verdict;

constexpr int kLabelWidth = 9;

struct Section {
  std::string_view label;
  std::vector<Line> lines;
  std::size_t least = 1;  // lines that are never taken away
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::vector<Line> lines_of(std::string_view text, int width, std::size_t most, Style style = Style::kPlain) {
  std::vector<std::string> wrapped = wrap(text, width);
  if (wrapped.size() > most) {
    wrapped.resize(most);
    wrapped.back() = cut(wrapped.back() + " …", width);
  }
  std::vector<Line> out;
  for (std::string& line : wrapped) out.push_back({{std::move(line), style}});
  return out;
}

// --- what each section says
// -----------------------------------------------------------------------------------------

Line verdict_line(const Verdict& v, int width) {
  Style style = Style::kBad;
  if (is_healthy(v)) style = v.confidence == model::Confidence::kLow ? Style::kWarning : Style::kGood;
  if (v.category == Category::kInconclusive || v.category == Category::kPerformanceDegradation)
    style = Style::kWarning;
  const std::string word = upper(spaced(model::name_of(v.category)));
  const std::string state =
      v.state == State::kUnknown ? "state unknown" : std::string(model::name_of(v.state));
  const std::string rest = " · " + state + " · " + std::string(model::name_of(v.confidence)) + " confidence";
  return {{cut(word, width - columns(rest)), style}, {rest, Style::kPlain}};
}

std::string headline_of(const Verdict& v) {
  if (!v.headline.empty()) return v.headline;
  if (is_healthy(v)) return "Nothing wrong was found in what was read.";
  if (v.category == Category::kInconclusive) return "The evidence at hand does not decide what happened.";
  return std::string(cause_title(v.cause));
}

Section who(const Verdict& v, int width) {
  Section section{"who", {}, 1};
  if (!v.culprits.empty()) {
    const std::vector<std::string> items = subjects_words(v.culprits, width);
    std::string all;
    for (const std::string& item : items) all += (all.empty() ? "" : ", ") + item;
    if (columns(all) > 2 * width) all = join_within(items, ", ", width);
    section.lines = lines_of(all, width, 2, Style::kBad);
  } else if (!is_healthy(v)) {
    section.lines = lines_of(v.suspects.empty() ? "no single culprit is proven by this evidence"
                                                : "no culprit is proven; suspects are named below",
                             width, 1);
  }
  return section;
}

Section suspects(const Verdict& v, int width) {
  Section section{"suspect", {}, 1};
  if (v.suspects.empty() || !v.culprits.empty()) return section;
  std::string all = join_within(subjects_words(v.suspects, width - 16), ", ", width);
  if (v.suspects.size() == 1 && !v.suspects[0].why.empty()) all += ": " + v.suspects[0].why;
  section.lines = lines_of(all, width, 2, Style::kWarning);
  return section;
}

Section why(const Verdict& v, int width) {
  Section section{"why", {}, 1};
  if (v.cause.empty() || (v.cause == "unknown" && is_healthy(v))) return section;
  std::string text = std::string(v.cause) + ": " + std::string(cause_title(v.cause));
  if (!v.root.empty()) text += "; because of " + v.root + ": " + std::string(cause_title(v.root));
  section.lines = lines_of(text, width, 3);
  return section;
}

Section where(const Verdict& v, int width) {
  Section section{"where", {}, 1};
  const std::string text = where_words(v.where);
  if (!text.empty()) section.lines = lines_of(text, width, 2);
  return section;
}

Section blast(const Verdict& v, int width) {
  Section section{"impact", {}, 1};
  const auto& ranks = v.blast_radius.ranks;
  if (ranks.empty() && v.blast_radius.instances.empty()) return section;
  std::string text;
  std::string tail;
  if (v.blast_radius.groups.size() > 1)
    tail += " · " + counted(v.blast_radius.groups.size(), "group", "groups");
  if (!v.blast_radius.hosts.empty()) tail += " · " + counted(v.blast_radius.hosts.size(), "host", "hosts");
  if (!v.blast_radius.instances.empty()) {
    tail += " · " + counted(v.blast_radius.instances.size(), "instance", "instances");
  }
  if (!ranks.empty()) {
    text = grouped(static_cast<std::int64_t>(ranks.size()));
    if (v.expected_ranks > 0) text += " of " + grouped(static_cast<std::int64_t>(v.expected_ranks));
    text +=
        (v.expected_ranks > 1 || ranks.size() > 1 ? " ranks " : " rank ") + std::string(blast_verb(v)) + ": ";
    text += fold_within(ranks, width - columns(text) - columns(tail));
    text += tail;
  } else {
    text = tail.substr(std::string_view(" · ").size());
  }
  section.lines = {{{cut(text, width), Style::kPlain}}};
  return section;
}

// How many files had something that could not be read or cannot be right.
std::size_t files_with_problems(const model::Case& evidence) {
  return static_cast<std::size_t>(
      std::count_if(evidence.inputs.begin(), evidence.inputs.end(), [](const model::Input& input) {
        return std::any_of(input.problems.begin(), input.problems.end(), [](const model::ImportProblem& p) {
          return p.severity != model::Severity::kInfo;
        });
      }));
}

std::vector<std::string> unseen(const Verdict& v, const TerminalOptions& options, int width) {
  std::vector<std::string> items = v.not_seen;
  if (items.empty()) {
    for (const model::CoverageLine& row : v.coverage) {
      const auto add = [&](std::string_view what, const std::vector<std::int32_t>& ranks) {
        if (ranks.empty()) return;
        items.push_back(std::string(what) + " from " + counted(ranks.size(), "rank", "ranks") + " (" +
                        fold_within(ranks, width / 2) + ")");
      };
      add("no " + spaced(row.source), row.absent);
      add("an unreadable " + spaced(row.source), row.unreadable);
      add("an incomplete " + spaced(row.source), row.partial);
    }
  }
  if (options.evidence != nullptr) {
    if (const std::size_t bad = files_with_problems(*options.evidence); bad > 0) {
      items.push_back(counted(bad, "file", "files") + " with problems (-v)");
    }
    if (const std::size_t aside = options.evidence->set_aside.size(); aside > 0) {
      items.push_back(counted(aside, "file", "files") + " set aside (-v)");
    }
  }
  return items;
}

Section not_seen(const Verdict& v, const TerminalOptions& options, int width) {
  Section section{"not seen", {}, 1};
  std::vector<std::string> items = unseen(v, options, width);
  if (items.empty()) {
    if (v.coverage.empty()) return section;
    const model::CoverageLine& row = v.coverage.front();
    section.lines = lines_of("nothing is missing: " + spaced(row.source) + " read from all " +
                                 counted(row.seen.size(), "rank", "ranks"),
                             width, 1);
    return section;
  }
  std::string all;
  for (const std::string& item : items) all += (all.empty() ? "" : "; ") + item;
  if (wrap(all, width).size() > 2) all = join_within(items, "; ", 2 * width - 12);
  section.lines = lines_of(all, width, 2);
  return section;
}

// One step of the recovery: its reason, and its command on the same line where both fit, else below.
std::vector<Line> step_lines(std::size_t number, const model::RecoveryStep& step, int width) {
  const std::string lead = std::to_string(number) + ". " + (step.changes_the_world ? "[acts] " : "");
  const int room = width - columns(lead);
  const std::string command = one_line(step.command);
  std::string reason = one_line(step.why);
  std::vector<Line> out;
  if (command.empty() || columns(reason) + 2 + columns(command) <= room) {
    if (!command.empty()) reason += reason.empty() ? "" : ": ";
    out = lines_of(reason, room, 2);
    out.front().insert(out.front().begin(), {lead, Style::kPlain});
    if (!command.empty()) out.back().push_back({(reason.empty() ? "" : " ") + command, Style::kCommand});
  } else {
    out = lines_of(reason + ":", room, 2);
    out.front().insert(out.front().begin(), {lead, Style::kPlain});
    out.push_back({{cut("   " + command, width), Style::kCommand}});
  }
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i].front().style != Style::kCommand) out[i].insert(out[i].begin(), {"   ", Style::kPlain});
  }
  return out;
}

Section do_next(const Verdict& v, int width) {
  Section section{"do next", {}, 1};
  std::size_t number = 0;
  for (const model::RecoveryStep& step : v.recovery.steps) {
    if (number == 3) break;
    std::vector<Line> lines = step_lines(++number, step, width);
    if (number == 1) section.least = lines.size();
    section.lines.insert(section.lines.end(), lines.begin(), lines.end());
  }
  return section;
}

Section decide(const Verdict& v, int width) {
  Section section{"decide", {}, 1};
  if (v.category != Category::kInconclusive && v.confidence != model::Confidence::kLow) return section;
  for (const model::Alternative& alternative : v.alternatives) {
    if (alternative.decide_by.empty()) continue;
    section.lines = lines_of(std::string(alternative.cause) + "? " + alternative.decide_by, width, 2);
    break;
  }
  return section;
}

Section evidence(const Verdict& v, int width) {
  Section section{"evidence", {}, 1};
  for (const model::EvidenceId id : key_evidence(v, 3)) {
    const model::EvidenceItem& item = v.evidence[id];
    std::string text = citation(item, width / 2);
    if (!item.text.empty()) text += ": " + item.text;
    section.lines.push_back({{cut(text, width), Style::kPlain}});
  }
  return section;
}

Section more(const Verdict& v, const TerminalOptions& options, int width) {
  std::vector<std::string> items;
  if (options.verbosity == 0) items.push_back("-v findings, stacks, coverage");
  items.push_back("--json");
  if (!v.cause.empty() && v.cause != "unknown") items.push_back("unhang explain " + std::string(v.cause));
  return {"more", {{{join_within(items, " · ", width), Style::kFaint}}}, 1};
}

// --- fitting
// --------------------------------------------------------------------------------------------------------

// Takes lines away until all sections fit: from the first section of `order` that has more than its least,
// then the next. What was shortened ends in "…".
void fit(std::vector<Section>& sections, std::size_t room, int width) {
  static constexpr std::string_view kOrder[] = {"evidence", "do next", "not seen", "decide", "why",
                                                "where",    "who",     "suspect",  ""};
  const auto total = [&] {
    std::size_t lines = 0;
    for (const Section& section : sections) lines += section.lines.size();
    return lines;
  };
  // Everything but the barest goes line by line; the evidence keeps two citations as long as anything else
  // can give.
  for (const std::string_view label : kOrder) {
    for (Section& section : sections) {
      if (section.label != label) continue;
      bool shortened = false;
      while (total() > room && section.lines.size() > section.least) {
        section.lines.pop_back();
        shortened = true;
      }
      if (!shortened || label == "evidence") continue;
      Line& last = section.lines.back();
      int used = 0;
      for (const Span& span : last) used += columns(span.text);
      if (used + 2 <= width) last.push_back({" …", Style::kPlain});
    }
  }
}

}  // namespace

std::vector<Line> first_screen(const Verdict& v, const TerminalOptions& options) {
  const int inner = options.width - kLabelWidth;
  std::vector<Section> sections;
  sections.push_back({"", lines_of(headline_of(v), options.width, 3, Style::kStrong), 2});
  for (Section section : {who(v, inner), suspects(v, inner), why(v, inner), where(v, inner), blast(v, inner),
                          not_seen(v, options, inner), do_next(v, inner), decide(v, inner),
                          evidence(v, inner), more(v, options, inner)}) {
    if (!section.lines.empty()) sections.push_back(std::move(section));
  }
  fit(sections, kFirstScreenLines - 1, inner);

  std::vector<Line> out = {verdict_line(v, options.width)};
  for (const Section& section : sections) {
    bool first = true;
    for (const Line& line : section.lines) {
      Line whole;
      if (!section.label.empty()) {
        std::string label = first ? std::string(section.label) : "";
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
