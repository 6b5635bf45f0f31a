// SPDX-License-Identifier: Apache-2.0
//
// The merged tree for people: a summary that says who does what, then the frames, indented where ranks part.
#include <algorithm>
#include <map>
#include <set>

#include "base/rank_set.h"
#include "report/stack_tree.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

constexpr int kMaxIndent = 40;      // deeper forks are not indented further
constexpr std::size_t kMaxRun = 6;  // frames in a row that are shown before some are folded
constexpr std::size_t kInnermost = 3;

using Looks = std::vector<const StackLook*>;

// "ranks 0-6 (7)", "rank 7", "gpu-b07:412"
std::string label_of(const Looks& looks, const std::vector<std::size_t>& members, int width) {
  std::set<std::int32_t> ranks;
  std::vector<std::string> others;
  for (const std::size_t member : members) {
    const StackLook& look = *looks[member];
    if (look.rank >= 0) {
      ranks.insert(look.rank);
    } else {
      const std::string name = one_line(name_of(look));
      if (others.empty() || others.back() != name) others.push_back(name);
    }
  }
  std::string out;
  if (!ranks.empty()) {
    const std::vector<std::int32_t> list(ranks.begin(), ranks.end());
    const std::string folded = fold_within(list, std::max(width - 14, 12));
    const bool only_counted = folded.ends_with("ranks");  // "20 ranks": no room for more
    out = ranks.size() == 1 ? "rank " + folded : only_counted ? folded : "ranks " + folded;
    if (ranks.size() > 2 && !only_counted) out += " (" + std::to_string(ranks.size()) + ")";
  }
  if (!others.empty()) {
    if (!out.empty()) out += ", ";
    out += join_within(others, ", ", std::max(width - columns(out), 16));
  }
  return out;
}

std::string place_of(const model::StackFrame& frame) {
  return frame.line > 0 ? frame.file + ":" + std::to_string(frame.line) : frame.file;
}

class TreeScreen {
 public:
  TreeScreen(const Looks& looks, const StackScreenOptions& options, std::vector<Line>& lines)
      : x_looks(looks), x_options(options), x_lines(lines), x_nodes(merge_stacks(looks)) {}

  void add() {
    // Depth first without recursion: a stack may be deep, and so may its forks.
    std::vector<Branch> open;
    push_children(0, {}, false, false, open);
    while (!open.empty()) {
      const Branch branch = open.back();
      open.pop_back();
      add_branch(branch, open);
    }
  }

 private:
  struct Branch {
    std::size_t node = 0;
    std::string lead;  // before its label
    std::string rest;  // before its frames
    bool labelled = false;
  };

  void push_children(std::size_t node, const std::string& prefix, bool inside, bool deep,
                     std::vector<Branch>& open) const {
    const auto& children = x_nodes[node].children;
    for (std::size_t i = children.size(); i-- > 0;) {
      const bool last = i + 1 == children.size();
      Branch branch{children[i], prefix, prefix, true};
      if (inside && !deep) {
        branch.lead += last ? "└─ " : "├─ ";
        branch.rest += last ? "   " : "│  ";
      } else if (inside) {
        branch.lead += "· ";
      }
      open.push_back(std::move(branch));
    }
  }

  // From a node down to where its members part.
  void add_branch(const Branch& branch, std::vector<Branch>& open) {
    std::vector<std::size_t> run{branch.node};
    while (x_nodes[run.back()].children.size() == 1 &&
           x_nodes[x_nodes[run.back()].children[0]].members.size() == x_nodes[run.back()].members.size())
      run.push_back(x_nodes[run.back()].children[0]);
    const std::size_t width = static_cast<std::size_t>(std::max(x_options.width - columns(branch.lead), 20));
    x_lines.push_back(
        {{branch.lead, Style::kFaint},
         {label_of(x_looks, x_nodes[branch.node].members, static_cast<int>(width)), Style::kStrong}});
    add_run(run, branch.rest + "  ");
    const StackNode& end = x_nodes[run.back()];
    std::vector<std::size_t> ending = members_that_end(end);
    if (!end.children.empty() && !ending.empty()) {
      x_lines.push_back({{branch.rest + "  ", Style::kFaint},
                         {label_of(x_looks, ending, static_cast<int>(width) - 12), Style::kStrong},
                         {ending.size() == 1 ? " ends here" : " end here", Style::kFaint}});
    }
    const bool deep = columns(branch.rest) >= std::min(kMaxIndent, x_options.width / 3);
    push_children(run.back(), deep ? branch.rest : branch.rest + "  ", true, deep, open);
  }

  std::vector<std::size_t> members_that_end(const StackNode& node) const {
    std::set<std::size_t> going;
    for (const std::size_t child : node.children)
      going.insert(x_nodes[child].members.begin(), x_nodes[child].members.end());
    std::vector<std::size_t> out;
    for (const std::size_t member : node.members) {
      if (going.count(member) == 0) out.push_back(member);
    }
    return out;
  }

  // Shown: the outermost frame, those that say something (of equal ones in a row the outermost), and the
  // innermost ones.
  std::vector<bool> shown_of(const std::vector<std::size_t>& run) const {
    std::vector<bool> shown(run.size(), x_options.every_frame || run.size() <= kMaxRun);
    model::Activity before = model::Activity::kUnknown;
    for (std::size_t i = 0; i < run.size(); ++i) {
      const model::Activity activity = x_nodes[run[i]].activity;
      if (i == 0 || i + kInnermost >= run.size()) shown[i] = true;
      if (activity != model::Activity::kUnknown && activity != before) shown[i] = true;
      before = activity;
    }
    for (std::size_t i = 1; i + 1 < run.size(); ++i) {
      if (!shown[i] && shown[i - 1] && shown[i + 1]) shown[i] = true;  // a fold of one saves nothing
    }
    return shown;
  }

  // How a thread waits is worth a word only where nothing says why.
  bool is_news(const StackNode& node, model::Activity& said) const {
    const model::Activity activity = node.activity;
    const bool vague = activity == model::Activity::kLock || activity == model::Activity::kSleep;
    if (activity == model::Activity::kUnknown || activity == said) return false;
    if (vague && said != model::Activity::kUnknown) return false;
    if (model::overrides(said, activity)) return false;
    said = activity;
    return true;
  }

  void add_run(const std::vector<std::size_t>& run, const std::string& prefix) {
    const std::vector<bool> shown = shown_of(run);
    model::Activity said = model::Activity::kUnknown;
    for (std::size_t i = 0; i < run.size();) {
      if (shown[i]) {
        add_frame(x_nodes[run[i]], is_news(x_nodes[run[i]], said), prefix);
        ++i;
        continue;
      }
      std::size_t hidden = 0;
      for (; i < run.size() && !shown[i]; ++i) ++hidden;
      x_lines.push_back({{prefix + "… " + std::to_string(hidden) + " frames", Style::kFaint}});
    }
  }

  void add_frame(const StackNode& node, bool is_news, const std::string& prefix) {
    std::string meaning;
    if (is_news) meaning = "  <- " + std::string(words_of(node.activity));
    const int room = std::max(x_options.width - columns(prefix), 20);
    if (columns(meaning) > room / 2) meaning = cut(meaning, room / 2);
    const std::string function =
        cut(node.frame.function.empty() ? "??" : node.frame.function, room - columns(meaning));
    const int left = room - columns(meaning) - columns(function) - 2;
    std::string place = one_line(place_of(node.frame));
    place = place.empty() || left < 8 ? std::string() : "  " + cut_front(place, left);
    x_lines.push_back(
        {{prefix, Style::kFaint}, {function}, {place, Style::kFaint}, {meaning, Style::kWarning}});
  }

  const Looks& x_looks;
  const StackScreenOptions& x_options;
  std::vector<Line>& x_lines;
  std::vector<StackNode> x_nodes;
};

// Who does what: looks with the same activity, most first.
void add_summary(const Looks& looks, const StackScreenOptions& options, std::vector<Line>& lines) {
  std::map<std::string, std::vector<std::size_t>> by_words;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    std::string words = words_of(looks[i]->activity);
    // It says what was called, not that somebody stood there when it was looked at.
    if (looks[i]->source == model::StackSource::kFlightRecorder) words = "made a call that is not finished";
    if (looks[i]->state == 'D') words += " (cannot be woken)";
    if (looks[i]->state == 'T') words += " (stopped)";
    by_words[words].push_back(i);
  }
  std::vector<std::pair<std::string, std::vector<std::size_t>>> rows(by_words.begin(), by_words.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  int label_width = 0;
  std::vector<std::string> labels;
  for (const auto& [words, members] : rows) {
    labels.push_back(label_of(looks, members, options.width / 2));
    label_width = std::max(label_width, columns(labels.back()));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string pad(static_cast<std::size_t>(label_width - columns(labels[i])) + 2, ' ');
    const bool outlier = rows[i].second.size() * 2 < looks.size();
    const auto wrapped = wrap(rows[i].first, std::max(options.width - label_width - 4, 20));
    for (std::size_t part = 0; part < wrapped.size(); ++part) {
      const std::string lead =
          part == 0 ? "  " + labels[i] + pad : std::string(static_cast<std::size_t>(label_width) + 4, ' ');
      lines.push_back({{lead, Style::kStrong}, {wrapped[part], outlier ? Style::kWarning : Style::kPlain}});
    }
  }
}

std::string heading(const StackLooks& looks, const Looks& shown) {
  std::set<std::string> whose;
  std::set<std::string_view> sources;
  for (const StackLook* look : shown) {
    whose.insert(name_of(*look));
    sources.insert(look->source == model::StackSource::kFlightRecorder
                       ? "the Flight Recorder's last open calls"
                       : model::name_of(look->source));
  }
  std::string out = counted(whose.size(), "process", "processes");
  if (shown.size() != whose.size()) out += ", " + counted(shown.size(), "thread", "threads");
  out += " · stacks by ";
  for (const std::string_view source : sources)
    out += (source == *sources.begin() ? "" : ", ") + std::string(source);
  if (looks.older > 0) out += " · " + counted(looks.older, "earlier look", "earlier looks") + " left out";
  return out;
}

void add_text(const std::string& text, const StackScreenOptions& options, Style style,
              std::vector<Line>& lines) {
  for (const std::string& part : wrap(text, options.width)) lines.push_back({{part, style}});
}

// Threads of one name, without the numbers that tell them apart.
std::string title_of(const StackLook& look) {
  if (look.is_main) return "main thread";
  std::string name = look.thread;
  while (!name.empty() &&
         ((name.back() >= '0' && name.back() <= '9') || name.back() == '_' || name.back() == '-'))
    name.pop_back();
  return name.empty() ? "other threads" : "thread " + one_line(name);
}

}  // namespace

std::string render_stacks(const StackLooks& looks, const StackScreenOptions& options) {
  std::vector<Line> lines;
  Looks all;
  std::map<std::pair<bool, std::string>, Looks> blocks;  // the main threads first
  for (const StackLook& look : looks.looks) {
    all.push_back(&look);
    const std::string title = options.all_threads ? title_of(look) : std::string();
    blocks[{options.all_threads && !look.is_main, title}].push_back(&look);
  }
  add_text(heading(looks, all), options, Style::kPlain, lines);
  for (const auto& [key, block] : blocks) {
    lines.push_back({});
    if (!key.second.empty()) add_text(key.second, options, Style::kLabel, lines);
    add_summary(block, options, lines);
    lines.push_back({});
    TreeScreen(block, options, lines).add();
  }
  if (!looks.unseen.empty()) {
    lines.push_back({});
    add_text("No stack of " + std::string(looks.unseen.size() == 1 ? "rank " : "ranks ") +
                 fold_within(looks.unseen, options.width - 20),
             options, Style::kFaint, lines);
  }
  for (const std::string& what : looks.not_readable)
    add_text("Not readable: " + what, options, Style::kFaint, lines);
  return paint(lines, options.color);
}

}  // namespace unhang::report
