// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exit_codes.h"
#include "cli/flag_value.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

constexpr int kIndent = 2;
constexpr int kWidestTerm = 28;  // longer terms get a line of their own

struct Row {
  std::string term;
  std::string text;
};

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

// Two columns: terms, and beside them their texts, wrapped.
std::string render_rows(const std::vector<Row>& rows, int term_width, int width) {
  const int text_column = kIndent + term_width + 2;
  std::string out;
  for (const Row& row : rows) {
    const int used = kIndent + report::columns(row.term);
    out += blanks(kIndent) + row.term;
    bool first = used + 2 <= text_column;
    if (!first) out += "\n";
    for (const std::string& line : report::wrap(row.text, width - text_column)) {
      out += blanks(first ? text_column - used : text_column) + line + "\n";
      first = false;
    }
  }
  return out;
}

int term_width(const std::vector<Row>& rows) {
  int widest = 0;
  for (const Row& row : rows) {
    const int width = report::columns(row.term);
    if (width <= kWidestTerm) widest = std::max(widest, width);
  }
  return widest;
}

std::string render_section(const std::string& heading, const std::vector<Row>& rows, int width) {
  return rows.empty() ? "" : "\n" + heading + "\n" + render_rows(rows, term_width(rows), width);
}

std::string render_paragraphs(std::string_view text, int width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    out += "\n";
    for (const std::string& line : report::wrap(text.substr(0, end), width)) out += line + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string render_examples(const std::string& heading, std::span<const Example> examples, int width) {
  if (examples.empty()) return "";
  std::string out = "\n" + heading + "\n";
  for (const Example& example : examples) {
    out += blanks(kIndent) + example.command + "\n";
    for (const std::string& line : report::wrap(example.text, width - 3 * kIndent)) {
      out += blanks(3 * kIndent) + line + "\n";
    }
  }
  return out;
}

// Headings in the order in which they are met; the unnamed group, which ends with --help, stands last.
std::string render_flags(const std::vector<Flag>& flags, int width) {
  std::vector<std::string> groups;
  std::vector<Row> all;
  for (const Flag& flag : flags) {
    if (flag.hidden) continue;
    all.push_back({flag_term(flag), ""});
    if (!flag.group.empty() && std::find(groups.begin(), groups.end(), flag.group) == groups.end()) {
      groups.push_back(flag.group);
    }
  }
  groups.emplace_back("");
  std::string out;
  for (const std::string& group : groups) {
    std::vector<Row> rows;
    for (const Flag& flag : flags) {
      if (!flag.hidden && flag.group == group) rows.push_back({flag_term(flag), flag_text(flag)});
    }
    if (rows.empty()) continue;
    out += "\n" + (group.empty() ? "Flags" : group) + "\n" + render_rows(rows, term_width(all), width);
  }
  return out;
}

// "print the version" -> "Print the version."
std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

std::vector<Row> exit_rows(const Command& command) {
  std::vector<Row> rows;
  // What a command says of a code of its own counts more than what verdicts say of it.
  const auto has_note = [&](int code) {
    return std::any_of(command.exit_notes.begin(), command.exit_notes.end(),
                       [&](const ExitNote& note) { return note.code == code; });
  };
  if (command.gives_verdict) {
    for (const ExitMeaning& row : verdict_exit_codes()) {
      if (!has_note(row.code)) rows.push_back({fmt::format("{}", row.code), std::string(row.means)});
    }
  }
  for (const ExitNote& note : command.exit_notes) rows.push_back({fmt::format("{}", note.code), note.means});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.term.size() != b.term.size() ? a.term.size() < b.term.size() : a.term < b.term;
  });
  return rows;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string line = "unhang " + command.name;
  if (command.positional.behind_dashes) return line + " [FLAGS] -- " + command.positional.placeholder;
  if (!command.positional.placeholder.empty()) {
    const std::string& placeholder = command.positional.placeholder;
    line += command.positional.minimum > 0 ? " " + placeholder : " [" + placeholder + "]";
  }
  return line + " [FLAGS]";
}

std::string flag_term(const Flag& flag) {
  std::string term = flag.short_name.empty() ? "    " : flag.short_name + ", ";
  term += flag.name;
  if (takes_value(flag)) term += " " + flag.value;
  return term;
}

std::string flag_text(const Flag& flag) {
  std::string text = flag.help;
  if (!flag.choices.empty()) text += fmt::format(": {}", fmt::join(flag.choices, ", "));
  const std::string initial = default_text(flag);
  if (!initial.empty()) text += fmt::format(" (default: {})", initial);
  return text;
}

std::string render_overview(std::span<const Command> commands, const std::vector<Flag>& program_flags,
                            int width) {
  std::string out =
      "unhang: find where the communication of a distributed GPU job broke\n"
      "\n"
      "Usage: unhang COMMAND [ARGUMENTS] [FLAGS]\n";
  if (!commands.empty()) {
    const std::span<const Example> examples = commands.front().examples;
    out += render_examples("Start here", examples.first(std::min<std::size_t>(examples.size(), 1)), width);
  }
  std::vector<std::string> groups;
  std::vector<Row> all;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    all.push_back({command.name, ""});
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end())
      groups.push_back(command.group);
  }
  for (const std::string& group : groups) {
    std::vector<Row> rows;
    for (const Command& command : commands) {
      if (!command.hidden && command.group == group) rows.push_back({command.name, command.summary});
    }
    out += "\n" + group + "\n" + render_rows(rows, term_width(all), width);
  }
  out += render_flags(program_flags, width);
  out += "\n'unhang COMMAND --help' says more about a command.\n";
  return out;
}

std::string render_help(const Command& command, const std::vector<Flag>& flags, int width) {
  std::string out = "Usage: " + usage_line(command) + "\n";
  out += render_paragraphs(sentence(command.summary), width);
  out += render_paragraphs(command.description, width);
  if (!command.positional.placeholder.empty()) {
    out += render_section("Arguments", {{command.positional.placeholder, command.positional.help}}, width);
  }
  out += render_flags(flags, width);
  out += render_examples("Examples", command.examples, width);
  out += render_section("Exit status", exit_rows(command), width);
  return out;
}

}  // namespace unhang::cli
