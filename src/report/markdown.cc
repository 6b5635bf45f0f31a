// SPDX-License-Identifier: Apache-2.0
#include "report/markdown.h"

#include <algorithm>
#include <string_view>

#include "report/recovery_words.h"
#include "report/text_layout.h"
#include "report/time_words.h"
#include "report/words.h"

namespace unhang::report {
namespace {

using model::Verdict;

constexpr int kWide = 120;              // columns for a folded set of ranks
constexpr std::size_t kMostItems = 20;  // of a list: a note is not an archive
constexpr std::size_t kMostEvidence = 8;

void row(std::string& out, std::string_view name, const std::string& markdown) {
  if (!markdown.empty()) out.append("| ").append(name).append(" | ").append(markdown).append(" |\n");
}

std::string cause_markdown(std::string_view code) {
  return markdown_code(code, true) + ": " + markdown_text(cause_title(code));
}

std::string impact(const Verdict& v) {
  const model::BlastRadius& blast = v.blast_radius;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (!blast.ranks.empty()) add(impact_words(v) + ": " + fold_within(blast.ranks, kWide));
  if (!blast.groups.empty()) add(counted(blast.groups.size(), "group", "groups"));
  if (!blast.hosts.empty()) add(counted(blast.hosts.size(), "host", "hosts"));
  if (!blast.instances.empty()) add(counted(blast.instances.size(), "instance", "instances"));
  return markdown_text(text);
}

void facts(std::string& out, const Verdict& v) {
  out += "| Fact | |\n|---|---|\n";
  if (!(is_healthy(v) && v.cause == "unknown")) row(out, "Cause", cause_markdown(v.cause));
  if (!v.root.empty()) row(out, "Because of", cause_markdown(v.root));
  if (!v.culprits.empty()) {
    row(out, "Culprits", markdown_text(culprits_within(v.culprits, kWide)));
  } else if (!is_healthy(v)) {
    row(out, "Culprits", "none proven");
  }
  row(out, "Where", markdown_text(where_words(v.where)));
  row(out, "Stands since", markdown_text(stall_words(v.times)));
  row(out, "Impact", impact(v));
  row(out, "Phase", markdown_text(spaced(model::name_of(v.phase))));
  row(out, "Fault domain", markdown_text(spaced(model::name_of(v.fault_domain))));
  row(out, "Recovery level", markdown_text(spaced(model::name_of(v.recovery.level))));
  row(out, "Environment", markdown_text(environment_words(v.recovery.environment)));
  if (v.times.gpu_hours_lost)
    row(out, "Lost", markdown_text(lost_words(v.times) + ": " + v.times.lost_basis));
  for (const model::CoverageLine& line : v.coverage) {
    row(out, "Seen",
        markdown_text(spaced(line.source) + " of " + grouped(static_cast<std::int64_t>(line.seen.size())) +
                      " of " + counted(v.expected_ranks, "rank", "ranks")));
  }
}

// Items of a list, one harmless Markdown line each.
void list(std::string& out, std::string_view title, const std::vector<std::string>& items,
          const std::string& aside = {}) {
  if (items.empty()) return;
  out.append("\n**").append(title).append("**").append(aside).append("\n\n");
  for (std::size_t i = 0; i < std::min(items.size(), kMostItems); ++i) out += "- " + items[i] + "\n";
  if (items.size() > kMostItems) {
    out += "- … " + grouped(static_cast<std::int64_t>(items.size() - kMostItems)) + " more\n";
  }
}

std::vector<std::string> subject_items(const std::vector<model::Subject>& subjects) {
  std::vector<std::string> items;
  for (const model::Subject& s : subjects) {
    items.push_back(markdown_text(subject_words(s) + (s.why.empty() ? "" : ": " + s.why)));
  }
  return items;
}

void stacks(std::string& out, const Verdict& v, bool full) {
  std::string block;
  const auto frames = [&](const std::vector<model::StackLine>& lines) {
    for (const model::StackLine& frame : shown_frames(lines, full))
      block += "    " + one_line(frame_words(frame)) + "\n";
  };
  for (std::size_t i = 0; i < std::min(v.stacks.size(), kMostItems); ++i) {
    const model::RankStack& stack = v.stacks[i];
    block += one_line(stack.role) + (stack.role.empty() ? "" : ", ") +
             counted(stack.ranks.size(), "rank", "ranks") + ": " + fold_within(stack.ranks, kWide) + "\n";
    frames(stack.frames);
  }
  if (v.stacks.empty()) frames(v.where.stack);
  if (block.empty()) return;
  std::replace(block.begin(), block.end(), '`', '\'');  // so that no line can close the block
  out += "\n**Stacks** (innermost first" +
         std::string(full ? "" : "; only the first frame of the user's code") + ")\n\n```text\n" + block +
         "```\n";
}

void steps(std::string& out, const Verdict& v) {
  if (v.recovery.steps.empty()) return;
  out += "\n**Next steps**\n\n";
  std::size_t number = 0;
  for (const model::RecoveryStep& step : v.recovery.steps) {
    out += std::to_string(++number) + ". " + (step.changes_the_world ? "*(disruptive)* " : "") +
           markdown_text(reason_words(step));
    if (!step.command.empty()) out += (step.why.empty() ? "" : " ") + markdown_code(step.command);
    out += "\n";
  }
}

std::vector<std::string> history_items(const Verdict& v) {
  std::vector<std::string> items;
  for (const model::Recurrence& recurrence : v.history)
    items.push_back(markdown_text(history_words(recurrence)));
  return items;
}

std::vector<std::string> texts(const std::vector<std::string>& list) {
  std::vector<std::string> items;
  for (const std::string& text : list) items.push_back(markdown_text(text));
  return items;
}

std::vector<std::string> evidence_items(const Verdict& v, const std::string& folder) {
  std::vector<std::string> items;
  for (const model::EvidenceId id : key_evidence(v, kMostEvidence)) {
    const model::EvidenceItem& item = v.evidence[id];
    items.push_back(markdown_code(citation(item, folder, kWide)) +
                    (item.text.empty() ? "" : ": " + markdown_text(item.text)));
  }
  return items;
}

std::vector<std::string> timeline_items(const Verdict& v) {
  std::vector<std::string> items;
  for (const model::TimelineEvent& e : v.timeline) {
    std::string text = e.time.empty() ? "" : markdown_code(e.time) + " ";
    if (!e.host.empty()) text += markdown_text(e.host) + ": ";
    items.push_back(text + markdown_text(e.event) + (e.after_the_fact ? " *(after the fact)*" : ""));
  }
  return items;
}

std::vector<std::string> alternative_items(const Verdict& v) {
  std::vector<std::string> items;
  for (const model::Alternative& a : v.alternatives) {
    std::string text = markdown_code(std::string(model::name_of(a.category)) + " / " + std::string(a.cause));
    for (const std::string& reason : a.speaks_for) text += "; for: " + markdown_text(reason);
    for (const std::string& reason : a.speaks_against) text += "; against: " + markdown_text(reason);
    if (!a.decide_by.empty()) text += "; decide by: " + markdown_text(a.decide_by);
    items.push_back(std::move(text));
  }
  return items;
}

}  // namespace

std::string render_markdown(const Verdict& v, const MarkdownOptions& options) {
  const std::string category = capitalised(spaced(model::name_of(v.category)));
  const std::string state =
      v.state == model::State::kUnknown ? "state unknown" : std::string(model::name_of(v.state));
  std::string out =
      "## " + category + ": " + state + ", " + std::string(model::name_of(v.confidence)) + " confidence\n\n";
  out += markdown_text(headline_words(v)) + "\n\n";
  facts(out, v);
  list(out, "Culprits", subject_items(v.culprits));
  list(out, "Suspects (not proven)", subject_items(v.suspects));
  stacks(out, v, options.full_stacks);
  std::vector<std::string> unseen;
  for (const std::string& item : unseen_words(v, options.evidence, kWide))
    unseen.push_back(markdown_text(item));
  list(out, "Not seen", unseen);
  steps(out, v);
  list(out, "To be tested again", texts(v.recovery.retest));
  list(out, "Named before", history_items(v), " (a lead, no proof)");
  list(out, "Timeline", timeline_items(v));
  list(out, "Alternatives", alternative_items(v));
  const std::string folder = common_folder(v, options.evidence);
  list(out, "Evidence", evidence_items(v, folder), folder.empty() ? "" : ", below " + markdown_code(folder));
  out += "\nunhang " UNHANG_VERSION;
  if (!(is_healthy(v) && v.cause == "unknown"))
    out += " · " + markdown_code("unhang explain " + std::string(v.cause));
  return out + "\n";
}

}  // namespace unhang::report
