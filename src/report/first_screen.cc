// SPDX-License-Identifier: Apache-2.0
#include "report/first_screen.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "report/recovery_words.h"
#include "report/section.h"
#include "report/text_layout.h"
#include "report/time_words.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using model::Category;
using model::State;
using model::Verdict;

constexpr std::size_t kSteps = 3;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

Line verdict_line(const Verdict& v, int width) {
  Style style = Style::kBad;
  if (is_healthy(v)) style = v.confidence == model::Confidence::kLow ? Style::kWarning : Style::kGood;
  if (v.category == Category::kInconclusive || v.category == Category::kPerformanceDegradation)
    style = Style::kWarning;
  const std::string word = upper(spaced(model::name_of(v.category)));
  const std::string state =
      v.state == State::kUnknown ? "state unknown" : std::string(model::name_of(v.state));
  const std::string rest = " · " + state + " · " + std::string(model::name_of(v.confidence)) + " confidence";
  return {{cut(word, std::max(width - columns(rest), 1)), style}, {cut(rest, width - 1), Style::kPlain}};
}

Section headline(const Verdict& v, int width) {
  return text_section("", headline_words(v), width, 3, Style::kStrong);
}

// Of one culprit also what a person types next: "rank 7 (node02, pid 29833, GPU 3)".
std::string culprit_words(const model::Subject& culprit) {
  std::string words = subject_words(culprit);
  if (culprit.kind != model::SubjectKind::kRank || culprit.host.empty()) return words;
  std::string more;
  if (culprit.pid) more += ", pid " + std::to_string(*culprit.pid);
  if (!culprit.gpu.empty()) more += ", GPU " + culprit.gpu;
  if (words.ends_with(')')) words.insert(words.size() - 1, more);
  return words;
}

Section who(const Verdict& v, int width) {
  if (v.culprits.size() == 1 && !v.culprits[0].why.empty()) {
    for (const std::string& words : {culprit_words(v.culprits[0]), subject_words(v.culprits[0])}) {
      const std::string with_reason = one_line(words + ": " + v.culprits[0].why);
      if (columns(with_reason) <= width) return text_section("who", with_reason, width, 1, Style::kBad);
    }
  }
  if (v.culprits.size() == 1) return text_section("who", culprit_words(v.culprits[0]), width, 2, Style::kBad);
  if (!v.culprits.empty()) {
    return text_section("who", culprits_within(v.culprits, 2 * width - 20), width, 2, Style::kBad);
  }
  if (is_healthy(v)) return {};
  return text_section("who",
                      v.suspects.empty() ? "no single culprit is proven by this evidence"
                                         : "no culprit is proven; a suspect is only where to look first",
                      width, 1);
}

Section suspects(const Verdict& v, int width) {
  if (v.suspects.empty() || !v.culprits.empty()) return {};
  std::string text = culprits_within(v.suspects, width);
  if (v.suspects.size() == 1 && !v.suspects[0].why.empty()) text += ": " + v.suspects[0].why;
  return text_section("suspect", text, width, 2, Style::kWarning);
}

Section why(const Verdict& v, int width) {
  if (v.cause.empty() || (v.cause == "unknown" && is_healthy(v))) return {};
  std::string text = std::string(v.cause) + ": " + std::string(cause_title(v.cause));
  if (!v.root.empty()) {
    // The reason behind the cause is the news; the cause's own title repeats the headline.
    text = std::string(v.cause) + ", because of " + v.root + ": " + std::string(cause_title(v.root));
  }
  return text_section("why", text, width, 2);
}

// Gives way to everything else.
Section since(const Verdict& v, int width) {
  Section section = text_section("since", stall_words(v.times), width, 1);
  if (!section.empty()) section.forms.emplace_back();
  return section;
}

Section impact(const Verdict& v, int width) {
  const auto& blast = v.blast_radius;
  std::string hosts;
  if (!blast.hosts.empty()) hosts += " · " + counted(blast.hosts.size(), "host", "hosts");
  if (!blast.instances.empty()) hosts += " · " + counted(blast.instances.size(), "instance", "instances");
  std::string groups;
  if (blast.groups.size() > 1) groups = " · " + counted(blast.groups.size(), "group", "groups");
  if (blast.ranks.empty()) {
    if (hosts.empty()) return {};
    return text_section("impact", std::string_view(hosts).substr(std::string_view(" · ").size()), width, 1);
  }
  std::string text = impact_words(v);
  if (blast.ranks.size() != v.expected_ranks) {
    text += ": ";
    constexpr int kEnough = 24;  // columns for a folded set that still says something
    if (width - columns(text) - columns(groups) - columns(hosts) < kEnough) groups.clear();
    if (width - columns(text) - columns(hosts) < kEnough) hosts.clear();
    text += fold_within(blast.ranks, std::max(width - columns(text) - columns(groups) - columns(hosts), 1));
  }
  text += groups + hosts;
  const std::string lost = lost_words(v.times);
  if (!lost.empty() && columns(text) + columns(lost) + 3 <= width) text += " · " + lost;
  return text_section("impact", text, width, 1);
}

Section not_seen(const Verdict& v, const TerminalOptions& options, int width) {
  const std::vector<std::string> items = unseen_words(v, options.evidence, width / 2);
  if (items.empty()) {
    if (v.coverage.empty()) return {};
    const model::CoverageLine& row = v.coverage.front();
    return text_section("not seen",
                        "nothing missing: " + spaced(row.source) + " read for all " +
                            counted(row.seen.size(), "rank", "ranks"),
                        width, 1);
  }
  Section two = text_section("not seen", join_within(items, "; ", 2 * width - 12), width, 2);
  if (two.forms.size() > 1) two.forms.back() = {{{join_within(items, "; ", width), Style::kPlain}}};
  return two;
}

// One step of the recovery: its reason, and its command on the same line where both fit, else below. A
// command that is wider than the screen is cut; -v shows it whole.
std::vector<Line> step_lines(std::size_t number, const model::RecoveryStep& step, int width) {
  const std::string lead = std::to_string(number) + ". " + (step.changes_the_world ? "[disruptive] " : "");
  const std::string command = one_line(step.command);
  const std::string reason = one_line(reason_words(step));
  const bool same_line = columns(lead) + columns(reason) + 1 + columns(command) <= width;
  std::vector<Line> out;
  std::vector<std::string> texts = wrap(reason, width - 3, columns(lead) - 3);
  if (texts.size() > 2) {
    texts.resize(2);
    texts[1] = cut(texts[1] + " …", width - 3);
  }
  for (std::string& text : texts) {
    out.push_back({{out.empty() ? lead : "   ", Style::kPlain}, {std::move(text), Style::kPlain}});
  }
  if (command.empty()) return out;
  if (same_line) {
    out.back().push_back({(reason.empty() ? "" : " ") + command, Style::kCommand});
  } else {
    out.push_back({{"   ", Style::kPlain}, {cut(command, width - 3), Style::kCommand}});
  }
  return out;
}

Section do_next(const Verdict& v, int width) {
  Section section{"do next", {}};
  const std::size_t most = std::min(v.recovery.steps.size(), kSteps);
  for (std::size_t count = most; count > 0; --count) {
    std::vector<Line> form;
    for (const std::size_t i : chosen_steps(v.recovery.steps, count)) {
      for (Line& line : step_lines(i + 1, v.recovery.steps[i], width)) form.push_back(std::move(line));
    }
    section.forms.push_back(std::move(form));
  }
  return section;
}

// Who failed before: a lead where to look.
Section history(const Verdict& v, int width) {
  if (v.history.empty()) return {};
  return text_section("history", history_words(v.history.front()), width, 1, Style::kWarning);
}

// What would settle it, where the verdict is not sure.
Section decide(const Verdict& v, int width) {
  if (v.category != Category::kInconclusive && v.confidence != model::Confidence::kLow) return {};
  for (const model::Alternative& alternative : v.alternatives) {
    if (alternative.decide_by.empty()) continue;
    const std::string what = alternative.cause == "unknown" ? "" : std::string(alternative.cause) + "? ";
    return text_section("decide", what + alternative.decide_by, width, 2);
  }
  return {};
}

Section evidence(const Verdict& v, const TerminalOptions& options, int width) {
  constexpr int kPathAtLeast = 24;  // columns; more where the text leaves room
  const std::string folder = common_folder(v, options.evidence);
  std::vector<Line> lines;
  for (const model::EvidenceId id : key_evidence(v, 3)) {
    const model::EvidenceItem& item = v.evidence[id];
    const int rest = columns(one_line(item.text)) + columns(citation(item, folder, 1)) + 2;
    std::string text = citation(item, folder, std::max(kPathAtLeast, width - rest));
    if (!item.text.empty()) text += ": " + item.text;
    lines.push_back({{cut(text, width), Style::kPlain}});
  }
  Section section{"evidence", {}};
  for (; !lines.empty(); lines.pop_back()) section.forms.push_back(lines);
  return section;
}

Section more(const Verdict& v, const TerminalOptions& options, std::size_t steps_left, int width) {
  std::string explain;
  if (!v.cause.empty() && !(v.cause == "unknown" && is_healthy(v)))
    explain = " · unhang explain " + std::string(v.cause);
  std::string text = "--json" + explain;
  if (options.verbosity == 0) {
    const std::string steps = steps_left == 0 ? "" : " " + counted(steps_left, "more step", "more steps");
    const std::string comma = steps_left == 0 ? " " : ", ";
    for (const std::string& form :
         {"-v" + steps + comma + "findings and stacks · --json" + explain,
          "-v" + steps + comma + "details · --json" + explain, "-v" + steps + explain}) {
      text = form;
      if (columns(text) <= width) break;
    }
  }
  return text_section("more", text, width, 1, Style::kFaint);
}

}  // namespace

std::vector<Line> first_screen(const Verdict& v, const TerminalOptions& options) {
  const int inner = options.width - kLabelWidth;
  const std::vector<Section> sections = {headline(v, options.width),
                                         who(v, inner),
                                         suspects(v, inner),
                                         why(v, inner),
                                         text_section("where", where_words(v.where), inner, 2),
                                         since(v, inner),
                                         impact(v, inner),
                                         history(v, inner),
                                         not_seen(v, options, inner),
                                         do_next(v, inner),
                                         decide(v, inner),
                                         evidence(v, options, inner)};
  // The verdict's line above and the line about more below are always there.
  std::vector<Line> out = {verdict_line(v, options.width)};
  for (Line& line : fitted(sections, kFirstScreenLines - 2)) out.push_back(std::move(line));
  const std::size_t steps_shown =
      static_cast<std::size_t>(std::count_if(out.begin(), out.end(), [](const Line& line) {
        return line.size() > 1 && line[1].text.size() > 1 &&
               std::isdigit(static_cast<unsigned char>(line[1].text[0])) != 0 &&
               line[1].text.compare(1, 2, ". ") == 0;
      }));
  const std::size_t steps = v.recovery.steps.size();
  for (Line& line : fitted({more(v, options, steps - std::min(steps, steps_shown), inner)}, 1)) {
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace unhang::report
