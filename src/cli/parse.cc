// SPDX-License-Identifier: Apache-2.0
//
// The only file that sees CLI11 (twelve seconds to compile). CLI11 splits the words into flags, values and
// the rest; it does not get positionals, conversions or subcommands from us: it would read a folder named
// "[a,b]" as two, and a folder named like a command as that command.
#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.h"
#include "base/similar.h"
#include "cli/flag_value.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Words before the first "--"; what stands behind is never a flag.
std::size_t count_before_mark(const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), "--") - words.begin());
}

const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name) {
  for (const Flag& flag : flags) {
    if (name == flag.name || (!flag.short_name.empty() && name == flag.short_name)) return &flag;
  }
  return nullptr;
}

std::string needs_value(const Flag& flag) {
  if (flag.choices.empty()) return fmt::format("flag {} needs a value: {}", flag.name, flag.value);
  return fmt::format("flag {} needs a value: {}", flag.name, fmt::join(flag.choices, ", "));
}

// CLI11 would take the next word as the value of "--flag=", and ignores what it is told here.
Result<> check_equal_signs(const std::vector<Flag>& flags, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < count_before_mark(words); ++i) {
    const std::string& word = words[i];
    const std::size_t equal = word.find('=');
    if (word.substr(0, 2) != "--" || equal == std::string::npos) continue;
    const Flag* flag = find_flag(flags, word.substr(0, equal));
    if (flag == nullptr) continue;
    if (!takes_value(*flag))
      return fail(ErrorCode::kUsage, fmt::format("flag {} takes no value", flag->name));
    if (equal + 1 == word.size()) return fail(ErrorCode::kUsage, needs_value(*flag));
  }
  return {};
}

tl::unexpected<base::Error> unknown_flag(const std::vector<Flag>& flags, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  std::vector<std::string_view> names = {"--help"};
  for (const Flag& flag : flags) {
    if (!flag.hidden) names.push_back(flag.name);
  }
  const auto near = base::similar_words(typed, names, 1);
  std::string message = fmt::format("there is no flag '{}'", base::printable(typed));
  if (!near.empty()) {
    message += fmt::format("; did you mean '{}'?", near.front());
  } else if (typed.size() == 2) {
    message += fmt::format(" (for a file of that name write ./{})", base::printable(typed));
  }
  return fail(ErrorCode::kUsage, std::move(message));
}

// What CLI11 left over, in order: positionals, unknown flags and perhaps one "--".
Result<std::vector<std::string>> take_positionals(const std::vector<Flag>& flags,
                                                  std::vector<std::string> rest) {
  std::vector<std::string> positionals;
  bool marked = false;
  for (std::string& word : rest) {
    if (!marked && word == "--") {
      marked = true;
    } else if (!marked && word.size() > 1 && word.front() == '-') {
      return unknown_flag(flags, word);
    } else {
      positionals.push_back(std::move(word));
    }
  }
  return positionals;
}

Result<> store(const std::vector<Flag>& flags, const Flag& flag, const CLI::Option& option) {
  if (!takes_value(flag)) {
    set_switch(flag, option.count());
    return {};
  }
  for (const std::string& text : option.results()) {
    const bool swallowed_a_flag = text.size() > 1 && text.front() == '-' && find_flag(flags, text) != nullptr;
    if (swallowed_a_flag) {
      return fail(ErrorCode::kUsage, fmt::format("{}, and {} follows it", needs_value(flag), text));
    }
    if (auto stored = set_value(flag, text); !stored) return stored;
  }
  return {};
}

std::string option_names(const Flag& flag) {
  return flag.short_name.empty() ? flag.name : flag.short_name + "," + flag.name;
}

}  // namespace

Result<ParsedArguments> parse_arguments(const std::vector<Flag>& flags, std::vector<std::string> words) {
  const auto mark = words.begin() + static_cast<std::ptrdiff_t>(count_before_mark(words));
  if (std::any_of(words.begin(), mark,
                  [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    return ParsedArguments{{}, true};
  }
  if (auto checked = check_equal_signs(flags, words); !checked) return fail(std::move(checked.error()));

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<CLI::Option*> options;
  for (const Flag& flag : flags) {
    options.push_back(takes_value(flag) ? app.add_option(option_names(flag))
                                        : app.add_flag(option_names(flag)));
    options.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  }
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& mismatch) {
    // A flag at the end, without its value. The name stands in front of CLI11's own words.
    const std::string text = mismatch.what();
    const Flag* flag = find_flag(flags, text.substr(0, text.find(':')));
    return fail(ErrorCode::kUsage, flag != nullptr ? needs_value(*flag) : text);
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kUsage, error.what());
  }

  auto positionals = take_positionals(flags, app.remaining());
  if (!positionals) return fail(std::move(positionals.error()));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (auto stored = store(flags, flags[i], *options[i]); !stored) return fail(std::move(stored.error()));
  }
  return ParsedArguments{std::move(*positionals), false};
}

Result<> check_positionals(const Positional& positional, const std::vector<std::string>& given) {
  if (given.size() > positional.maximum || (positional.placeholder.empty() && !given.empty())) {
    const std::size_t allowed = positional.placeholder.empty() ? 0 : positional.maximum;
    return fail(ErrorCode::kUsage,
                fmt::format("there is no place for the argument '{}'", base::printable(given[allowed])));
  }
  if (given.size() < positional.minimum) {
    return fail(ErrorCode::kUsage, fmt::format("{} is missing", positional.placeholder));
  }
  if (positional.choices.empty() || positional.other_allowed) return {};
  const std::vector<std::string_view> words(positional.choices.begin(), positional.choices.end());
  for (const std::string& word : given) {
    if (std::find(words.begin(), words.end(), word) != words.end()) continue;
    const auto near = base::similar_words(word, words, 1);
    std::string message = fmt::format("'{}' is not one of {}", base::printable(word), fmt::join(words, ", "));
    if (!near.empty()) message += fmt::format("; did you mean '{}'?", near.front());
    return fail(ErrorCode::kUsage, std::move(message));
  }
  return {};
}

}  // namespace unhang::cli
