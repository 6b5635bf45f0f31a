// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"
#include "cli/flag_value.h"
#include "cli/frame_flags.h"

namespace unhang::cli {
namespace {

// Inside '…' of fish, where only \ and ' are special.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out;
}

std::string flag_line(const Flag& flag, std::string_view condition) {
  std::string line = fmt::format("complete -c unhang -n '{}' -l {}", condition, flag.name.substr(2));
  if (!flag.short_name.empty()) line += fmt::format(" -s {}", flag.short_name.substr(1));
  if (takes_value(flag)) line += flag.is_path ? " -r -F" : " -x";
  if (!flag.choices.empty()) line += fmt::format(" -a '{}'", fmt::join(flag.choices, " "));
  return line + fmt::format(" -d '{}'\n", quoted(flag.help));
}

struct Conditions {
  std::string offered;  // when to offer the command's (last) word
  std::string chosen;   // when the command was chosen
  std::string word;     // that word
};

Conditions conditions_of(const std::string& name) {
  const std::size_t space = name.find(' ');
  if (space == std::string::npos)
    return {"__fish_use_subcommand", "__fish_seen_subcommand_from " + name, name};
  const std::string first = "__fish_seen_subcommand_from " + name.substr(0, space);
  const std::string second = "__fish_seen_subcommand_from " + name.substr(space + 1);
  return {first + "; and not " + second, first + "; and " + second, name.substr(space + 1)};
}

}  // namespace

std::string render_fish_completion(std::span<const Command> commands) {
  FrameOptions options;
  std::string out =
      "# fish completion for unhang, printed by \"unhang completion fish\"\n"
      "complete -c unhang -f\n";
  for (const Flag& flag : program_flags(options)) out += flag_line(flag, "__fish_use_subcommand");
  std::string last_first;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    const std::string first = command.name.substr(0, command.name.find(' '));
    if (first != command.name && first != last_first) {
      out += fmt::format("complete -c unhang -n '__fish_use_subcommand' -a {}\n", first);
    }
    last_first = first;
    const Conditions when = conditions_of(command.name);
    out += fmt::format("complete -c unhang -n '{}' -a {} -d '{}'\n", when.offered, when.word,
                       quoted(command.summary));
    for (const Flag& flag : command_flags(command, options)) {
      if (!flag.hidden) out += flag_line(flag, when.chosen);
    }
    if (command.positional.is_path) out += fmt::format("complete -c unhang -n '{}' -F\n", when.chosen);
    if (!command.positional.choices.empty()) {
      out += fmt::format("complete -c unhang -n '{}' -a '{}'\n", when.chosen,
                         fmt::join(command.positional.choices, " "));
    }
  }
  return out;
}

}  // namespace unhang::cli
