// SPDX-License-Identifier: Apache-2.0
#include "report/rank_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/rank_set.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::IdentityFact;
using model::IdentityKey;
using model::RankIdentity;

constexpr std::size_t kMostRows = 512;

// One letter for each source, in the order of the legend.
struct SourceLetter {
  std::string_view source;
  char letter;
  std::string_view words;
};
constexpr std::array<SourceLetter, 7> kLetters{{
    {"flight_recorder", 'F', "Flight Recorder"},
    {"ras", 'R', "RAS"},
    {"nccl_log", 'N', "NCCL's log"},
    {"log", 'L', "other log lines"},
    {"process", 'P', "a look at the process"},
    {"manifest", 'M', "the bundle's manifest"},
    {"bundle", 'B', "where the file lay in the bundle"},
}};

char letter_of(std::string_view source) {
  const auto at =
      std::find_if(kLetters.begin(), kLetters.end(), [&](const auto& l) { return l.source == source; });
  return at == kLetters.end() ? '?' : at->letter;
}

// "gpu-b07 [LR]"; where sources disagree "gpu-b07 [R] | gpu-b08 [L]".
std::string told(const RankIdentity& identity, std::initializer_list<IdentityKey> keys,
                 std::set<char>& used) {
  std::vector<std::pair<std::string, std::string>> values;  // value, letters
  for (const IdentityKey key : keys) {
    for (const IdentityFact& fact : identity.facts) {
      if (fact.key != key) continue;
      auto at = std::find_if(values.begin(), values.end(),
                             [&](const auto& known) { return known.first == fact.value; });
      if (at == values.end()) at = values.insert(values.end(), {fact.value, ""});
      const char letter = letter_of(fact.source);
      used.insert(letter);
      if (at->second.find(letter) == std::string::npos) at->second += letter;
    }
    if (!values.empty()) break;  // the next key only stands in for this one
  }
  std::string out;
  for (const auto& [value, letters] : values)
    out += (out.empty() ? "" : " | ") + one_line(value) + " [" + letters + "]";
  return out.empty() ? "-" : out;
}

class RankTable {
 public:
  RankTable(const model::Case& joined, const RankTableOptions& options)
      : x_case(joined), x_options(options) {}

  std::string text() {
    if (x_case.identities.empty()) {
      say("no rank is named by any of the inputs");
    } else if (x_options.verbosity > 0) {
      add_facts();
    } else {
      add_table();
    }
    add_hosts();
    add_conflicts();
    add_set_aside();
    return paint(x_lines, x_options.color);
  }

 private:
  void say(const std::string& text, Style style = Style::kPlain) {
    for (const std::string& line : wrap(text, x_options.width)) x_lines.push_back({{line, style}});
  }
  void say_under(const std::string& label, const std::string& text) {
    constexpr int kIndent = 2;
    bool first = true;
    const int taken = columns(label);
    for (const std::string& line : wrap(text, std::max(x_options.width - kIndent, 20), taken)) {
      x_lines.push_back({{std::string(kIndent, ' ') + (first ? label : "  ") + line}});
      first = false;
    }
  }

  void add_table() {
    std::vector<std::vector<std::string>> cells{{"rank", "host", "pid", "GPU", "role"}};
    std::set<char> used;
    for (const RankIdentity& identity : x_case.identities) {
      if (cells.size() > kMostRows) break;
      cells.push_back(
          {std::to_string(identity.global_rank),
           told(identity, {IdentityKey::kHost, IdentityKey::kAddress}, used),
           told(identity, {IdentityKey::kPid}, used),
           told(identity, {IdentityKey::kGpuBusId, IdentityKey::kGpuUuid, IdentityKey::kGpuOrdinal}, used),
           told(identity, {IdentityKey::kRole}, used)});
    }
    drop_empty_columns(cells);
    add_columns(cells);
    if (x_case.identities.size() > kMostRows)
      say("… " + counted(x_case.identities.size() - kMostRows, "more rank", "more ranks") +
              ": --json has all",
          Style::kFaint);
    std::string legend;
    for (const SourceLetter& letter : kLetters) {
      if (used.count(letter.letter) != 0)
        legend +=
            (legend.empty() ? "" : ", ") + std::string(1, letter.letter) + " " + std::string(letter.words);
    }
    if (!legend.empty()) say("told by: " + legend + ". -v shows every fact with its file", Style::kFaint);
  }

  // What nobody tells of anybody takes no room.
  static void drop_empty_columns(std::vector<std::vector<std::string>>& cells) {
    for (std::size_t column = cells.front().size(); column-- > 1;) {
      const bool told_of_somebody =
          std::any_of(cells.begin() + 1, cells.end(), [&](const auto& row) { return row[column] != "-"; });
      if (told_of_somebody) continue;
      for (auto& row : cells) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
  }

  // Where the columns do not fit, the widest give way: a cell is cut at its end, and -v has it whole.
  void add_columns(const std::vector<std::vector<std::string>>& cells) {
    std::vector<int> widths(cells.front().size(), 0);
    for (const auto& row : cells) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    constexpr int kGap = 2;
    constexpr int kNarrowest = 8;
    const auto total = [&] {
      int sum = kGap * static_cast<int>(widths.size() - 1);
      for (const int width : widths) sum += width;
      return sum;
    };
    while (total() > x_options.width) {
      const auto widest = std::max_element(widths.begin(), widths.end());
      if (*widest <= kNarrowest) break;
      --*widest;
    }
    for (std::size_t r = 0; r < cells.size(); ++r) {
      std::string text;
      for (std::size_t i = 0; i < cells[r].size(); ++i) {
        const std::string cell = cut(cells[r][i], widths[i]);
        text += cell;
        if (i + 1 < cells[r].size())
          text += std::string(static_cast<std::size_t>(widths[i] - columns(cell) + kGap), ' ');
      }
      x_lines.push_back({{text, r == 0 ? Style::kLabel : Style::kPlain}});
    }
  }

  void add_facts() {
    for (const RankIdentity& identity : x_case.identities) {
      x_lines.push_back({{"rank " + std::to_string(identity.global_rank), Style::kStrong}});
      for (const IdentityFact& fact : identity.facts) {
        std::string from = fact.source;
        std::replace(from.begin(), from.end(), '_', ' ');
        if (fact.input && *fact.input < x_case.inputs.size())
          from += ", " + one_line(x_case.inputs[*fact.input].path);
        std::string key(model::name_of(fact.key));
        std::replace(key.begin(), key.end(), '_', ' ');
        constexpr std::size_t kKeyWidth = 15;
        key.resize(std::max(key.size() + 1, kKeyWidth), ' ');
        say_under(key, one_line(fact.value) + " (" + from + ")");
      }
      if (identity.facts.empty()) say_under("", "nothing but its number is known");
    }
  }

  void add_hosts() {
    bool any = false;
    std::size_t shown = 0;
    for (const model::HostIdentity& host : x_case.hosts) {
      if (host.aliases.empty() && host.ranks.empty()) continue;
      if (!any) {
        x_lines.push_back({});
        x_lines.push_back({{"hosts", Style::kLabel}});
      }
      any = true;
      if (++shown > kMostRows) break;
      std::string text;
      if (!host.ranks.empty())
        text = (host.ranks.size() == 1 ? "rank " : "ranks ") +
               fold_within(host.ranks, std::max(x_options.width / 2, 20));
      std::string names;
      for (const std::string& alias : host.aliases) names += (names.empty() ? "" : ", ") + one_line(alias);
      if (!names.empty()) text += (text.empty() ? "" : "; ") + std::string("also ") + names;
      say_under(one_line(host.name) + "  ", text);
    }
  }

  void add_conflicts() {
    if (x_case.conflicts.empty()) return;
    x_lines.push_back({});
    x_lines.push_back({{"what sources tell differently", Style::kWarning}});
    for (const model::Conflict& conflict : x_case.conflicts)
      say_under("", one_line(x_case.inputs[conflict.input].path) + ": " + one_line(conflict.text));
  }

  void add_set_aside() {
    if (x_case.set_aside.empty()) return;
    x_lines.push_back({});
    x_lines.push_back({{"set aside", Style::kLabel}});
    for (const model::SetAside& aside : x_case.set_aside)
      say_under("", one_line(x_case.inputs[aside.input].path) + ": " + one_line(aside.reason));
  }

  const model::Case& x_case;
  const RankTableOptions& x_options;
  std::vector<Line> x_lines;
};

}  // namespace

std::string render_rank_table(const model::Case& joined, const RankTableOptions& options) {
  return RankTable(joined, options).text();
}

}  // namespace unhang::report
