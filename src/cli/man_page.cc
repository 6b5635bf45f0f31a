// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "cli/flag_value.h"
#include "cli/frame_flags.h"
#include "cli/help.h"

namespace unhang::cli {
namespace {

// Text for roff: no character acts as a request, the hyphen stays a hyphen that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '.' && out.empty()) {
      out += "\\&.";
    } else if (c >= 0xC0) {  // our own texts: valid UTF-8
      const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      std::uint32_t point = c & (0x7Fu >> length);
      for (std::size_t k = 1; k < length && i + 1 < text.size(); ++k) {
        point = (point << 6) | (static_cast<unsigned char>(text[++i]) & 0x3Fu);
      }
      out += fmt::format("\\[u{:04X}]", point);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string title(const std::string& page, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"unhang {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper(page)), UNHANG_VERSION, roff(page), roff(summary));
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    out += ".PP\n" + roff(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string item(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(text));
}

std::string flag_item(const Flag& flag) {
  std::string term = flag.short_name.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff(flag.short_name));
  term += fmt::format("\\fB{}\\fR", roff(flag.name));
  if (takes_value(flag)) term += fmt::format(" \\fI{}\\fR", roff(flag.value));
  return fmt::format(".TP\n{}\n{}\n", term, roff(flag_text(flag)));
}

// In the order of --help: a heading for each group, the unnamed one last.
std::string flags_section(const std::vector<Flag>& flags) {
  std::vector<std::string> groups;
  for (const Flag& flag : flags) {
    if (!flag.hidden && std::find(groups.begin(), groups.end(), flag.group) == groups.end())
      groups.push_back(flag.group);
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return !group.empty(); });
  std::string out = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) out += fmt::format(".SS {}\n", group.empty() ? "General" : roff(group));
    for (const Flag& flag : flags) {
      if (!flag.hidden && flag.group == group) out += flag_item(flag);
    }
  }
  return out;
}

// A note of the command stands before the general line for the same code.
std::string exit_section(std::vector<ExitNote> rows, std::span<const ExitMeaning> general) {
  for (const ExitMeaning& row : general) rows.push_back({row.code, std::string(row.means)});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ExitNote& a, const ExitNote& b) { return a.code < b.code; });
  std::string out = ".SH EXIT STATUS\n";
  int last = -1;
  for (const ExitNote& row : rows) {
    if (row.code != last) out += item(fmt::format("{}", row.code), row.means);
    last = row.code;
  }
  return out;
}

// What this command says; the errors that any command may meet are listed in unhang(1).
std::string command_exit_section(const Command& command) {
  std::vector<ExitNote> rows = command.exit_notes;
  rows.push_back({kExitUsage, "the command line is wrong"});
  if (!command.gives_verdict) rows.push_back({kExitOk, "done"});
  const auto verdicts = command.gives_verdict ? verdict_exit_codes() : std::span<const ExitMeaning>();
  std::string out = exit_section(std::move(rows), verdicts);
  if (command.gives_verdict) {
    out += paragraphs(
        "With --exit-style nagios: 0 ok, 1 warning, 2 critical, 3 unknown or an error. With npd "
        "(node-problem-detector): 0 no problem, 1 a problem, 2 unknown or an error. With nhc (node health "
        "check): 0 "
        "passed, 1 anything else. With zero: 0 whatever the verdict, and errors as they are.");
  }
  return out + ".PP\nOther errors: see\n.BR unhang (1).\n";
}

std::string environment_section() {
  return ".SH ENVIRONMENT\n" +
         item("NO_COLOR", "When set and not empty: no colours, unless --color says otherwise.") +
         item("COLUMNS", "The width of the output; else that of the terminal, else 80.");
}

std::string examples_section(const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string out = ".SH EXAMPLES\n";
  for (const Example& example : examples) out += item(example.command, example.text);
  return out;
}

}  // namespace

std::string man_page_name(const Command& command) {
  std::string name = "unhang-" + command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string render_program_page(std::span<const Command> commands) {
  FrameOptions options;
  std::string out = title("unhang", "find where the communication of a distributed GPU job broke");
  out +=
      ".SH SYNOPSIS\n\\fBunhang\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]\n.SH DESCRIPTION\n";
  out += paragraphs(
      "unhang reads what a stuck or slow job left behind and says which rank, process, GPU, link or node "
      "broke the "
      "communication, at which operation, why, and what to do about it. It needs nothing of the job's "
      "software and "
      "executes nothing that it reads.");
  std::string see;
  out += ".SH COMMANDS\n";
  for (const Command& command : commands) {
    if (command.hidden) continue;
    out += item(command.name, command.summary);
    see += fmt::format("{}\n.BR {} (1)", see.empty() ? "" : ",", roff(man_page_name(command)));
  }
  out += flags_section(program_flags(options));
  std::vector<ExitNote> verdicts;
  for (const ExitMeaning& row : verdict_exit_codes()) verdicts.push_back({row.code, std::string(row.means)});
  out += exit_section(std::move(verdicts), error_exit_codes());
  return out + environment_section() + ".SH SEE ALSO" + see + "\n";
}

std::string render_command_page(const Command& command) {
  FrameOptions options;
  std::string out = title(man_page_name(command), command.summary);
  std::string synopsis = usage_line(command);
  const std::string program = "unhang " + command.name;
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}\n", roff(program), roff(synopsis.substr(program.size())));
  if (!command.description.empty()) out += ".SH DESCRIPTION\n" + paragraphs(command.description);
  if (!command.positional.placeholder.empty()) {
    out += ".SH ARGUMENTS\n" + item(command.positional.placeholder, command.positional.help);
  }
  out += flags_section(command_flags(command, options));
  out += command_exit_section(command);
  out += environment_section() + examples_section(command.examples);
  return out + ".SH SEE ALSO\n.BR unhang (1)\n";
}

}  // namespace unhang::cli
