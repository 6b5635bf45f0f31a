// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"
#include "cli/flag_value.h"
#include "cli/frame_flags.h"

namespace unhang::cli {
namespace {

// Inside '…' of an _arguments specification.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string action(const std::vector<std::string>& choices, bool is_path) {
  if (is_path) return "_files";
  return choices.empty() ? "" : fmt::format("({})", fmt::join(choices, " "));
}

// '(-j --threads)'{-j,--threads}'[help]:N:' as _arguments wants it; "*" where it may be given again.
std::string flag_argument(const Flag& flag) {
  const bool again = std::holds_alternative<std::vector<std::string>*>(flag.target) ||
                     (!takes_value(flag) && std::holds_alternative<int*>(flag.target));
  // "=": the value follows as "--flag=value" or as the next word; "+": "-fvalue" or the next word.
  const std::string long_name = flag.name + (takes_value(flag) ? "=" : "");
  const std::string short_name = flag.short_name + (takes_value(flag) ? "+" : "");
  std::string out;
  if (flag.short_name.empty()) {
    out = fmt::format("'{}{}", again ? "*" : "", long_name);
  } else if (again) {
    out = fmt::format("'*'{{{},{}}}'", short_name, long_name);
  } else {
    out = fmt::format("'({} {})'{{{},{}}}'", flag.short_name, flag.name, short_name, long_name);
  }
  out += fmt::format("[{}]", quoted(flag.help));
  if (takes_value(flag)) out += fmt::format(":{}:{}", quoted(flag.value), action(flag.choices, flag.is_path));
  return out + "'";
}

std::string arguments_call(const std::vector<Flag>& flags, const Positional& positional,
                           std::string_view indent) {
  std::string out = fmt::format("{}_arguments -s -S", indent);
  for (const Flag& flag : flags) {
    if (!flag.hidden) out += fmt::format(" \\\n{}  {}", indent, flag_argument(flag));
  }
  if (!positional.placeholder.empty()) {
    out += fmt::format(" \\\n{}  '{}:{}:{}'", indent, positional.maximum == 1 ? "1" : "*",
                       quoted(positional.placeholder), action(positional.choices, positional.is_path));
  }
  return out + "\n";
}

std::string first_word(const std::string& name) {
  return name.substr(0, name.find(' '));
}

// Commands of two words share the entry of the first.
std::string group_entry(std::span<const Command> commands, const std::string& first) {
  FrameOptions options;
  std::string seconds, cases;
  for (const Command& command : commands) {
    if (command.hidden || command.name == first || first_word(command.name) != first) continue;
    const std::string second = command.name.substr(first.size() + 1);
    seconds += " " + second;
    cases += fmt::format(
        "          {})\n            shift words\n            (( CURRENT-- ))\n{}            ;;\n", second,
        arguments_call(command_flags(command, options), command.positional, "            "));
  }
  return fmt::format(
      "      {})\n        if (( CURRENT == 2 )); then\n          compadd --{}\n          return\n        fi\n"
      "        case $words[2] in\n{}        esac\n        ;;\n",
      first, seconds, cases);
}

}  // namespace

std::string render_zsh_completion(std::span<const Command> commands) {
  FrameOptions options;
  std::string list, entries, last_group;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    const std::string first = first_word(command.name);
    if (first == command.name) {
      list += fmt::format("    '{}:{}'\n", command.name, quoted(command.summary));
      entries += fmt::format("      {})\n{}        ;;\n", command.name,
                             arguments_call(command_flags(command, options), command.positional, "        "));
    } else if (first != last_group) {
      last_group = first;
      list += fmt::format("    '{}'\n", first);
      entries += group_entry(commands, first);
    }
  }
  std::string program;
  for (const Flag& flag : program_flags(options)) program += fmt::format("    {} \\\n", flag_argument(flag));
  return fmt::format(
      "#compdef unhang\n"
      "# zsh completion for unhang, printed by \"unhang completion zsh\"\n"
      "_unhang_commands() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  _describe -t commands command commands\n"
      "}}\n\n"
      "_unhang() {{\n"
      "  local context state state_descr line curcontext=\"$curcontext\"\n"
      "  typeset -A opt_args\n"
      "  _arguments -C -s -S \\\n{}"
      "    '1:command:_unhang_commands' \\\n"
      "    '*::argument:->rest'\n"
      "  if [[ $state == rest ]]; then\n"
      "    case $words[1] in\n{}    esac\n"
      "  fi\n"
      "}}\n\n"
      "if [[ $funcstack[1] == _unhang ]]; then\n  _unhang \"$@\"\nelse\n  compdef _unhang unhang\nfi\n",
      list, program, entries);
}

}  // namespace unhang::cli
