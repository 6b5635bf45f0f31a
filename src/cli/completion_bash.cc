// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.h"
#include "cli/flag_value.h"
#include "cli/frame_flags.h"

namespace unhang::cli {
namespace {

// Finds the command among the words before the cursor; "--flag=value" arrives as three words.
constexpr std::string_view kHead = R"(# bash completion for unhang, printed by "unhang completion bash"
_unhang() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  local command="" flags="" words="" paths="" taken="" i
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
      --color | =) ((i++)) ;;
      -*) ;;
      *) command="${command:+$command }${COMP_WORDS[i]}"; [[ $command == @(@PREFIXES@) ]] || break ;;
    esac
  done
  COMPREPLY=()
  case "$command" in
)";

// `taken`: what the value of the flag before the cursor may be: words, a path, or anything.
constexpr std::string_view kTail = R"(  esac
  case "$taken" in
    "") ;;
    path) paths=yes flags="" words="" ;;
    any) return ;;
    *) flags="" words="${taken#words}" paths="" ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $paths ]]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}
complete -F _unhang unhang
)";

std::string taken_by(const Flag& flag) {
  if (flag.is_path) return "path";
  if (flag.choices.empty()) return "any";
  return fmt::format("\"words{}\"", fmt::join(flag.choices, " "));
}

// The line that an entry of the outer case consists of: what may follow, and what the flags with values want.
std::string entry(std::string_view pattern, const std::vector<Flag>& flags,
                  const std::vector<std::string>& words, bool paths) {
  std::vector<std::string> names;
  std::string cases;
  for (const Flag& flag : flags) {
    if (flag.hidden) continue;
    names.push_back(flag.name);
    if (!flag.short_name.empty()) names.push_back(flag.short_name);
    if (!takes_value(flag)) continue;
    const std::string pattern_of_flag =
        flag.short_name.empty() ? flag.name : flag.name + " | " + flag.short_name;
    cases += fmt::format("        {}) taken={} ;;\n", pattern_of_flag, taken_by(flag));
  }
  std::string out = fmt::format("    {})\n      flags=\"{}\" words=\"{}\" paths={}\n", pattern,
                                fmt::join(names, " "), fmt::join(words, " "), paths ? "yes" : "");
  if (!cases.empty()) out += "      case \"$prev\" in\n" + cases + "      esac\n";
  return out + "      ;;\n";
}

}  // namespace

std::string render_bash_completion(std::span<const Command> commands) {
  FrameOptions options;
  std::vector<std::string> first_words, prefixes;
  std::string entries;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    const std::size_t space = command.name.find(' ');
    const std::string first = command.name.substr(0, space);
    if (first_words.empty() || first_words.back() != first) first_words.push_back(first);
    if (space != std::string::npos && (prefixes.empty() || prefixes.back() != first))
      prefixes.push_back(first);
    entries += entry('"' + command.name + '"', command_flags(command, options), command.positional.choices,
                     command.positional.is_path);
  }
  for (const std::string& prefix : prefixes) {
    std::vector<std::string> second_words;
    for (const Command& command : commands) {
      const bool below = !command.hidden && command.name.substr(0, prefix.size() + 1) == prefix + " ";
      if (below) second_words.push_back(command.name.substr(prefix.size() + 1));
    }
    entries += entry('"' + prefix + '"', {}, second_words, false);
  }
  std::string head(kHead);
  const std::string_view mark = "@PREFIXES@";
  head.replace(head.find(mark), mark.size(), fmt::format("{}", fmt::join(prefixes, "|")));
  return head + entry("\"\"", program_flags(options), first_words, false) + entries + std::string(kTail);
}

}  // namespace unhang::cli
