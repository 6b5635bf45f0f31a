// SPDX-License-Identifier: Apache-2.0
#include "cli/launch_change.h"

#include <algorithm>

#include "base/printable.h"
#include "base/redaction.h"
#include "checks/probe_variables.h"
#include "cli/launch_look.h"

namespace unhang::cli {
namespace {

tl::unexpected<base::Error> refuse(const std::string& flag, const std::string& word, const std::string& why) {
  return base::fail(base::ErrorCode::kUsage, flag + ": '" + base::printable(word) + "' " + why);
}

// As shells take it (POSIX, "Name"). Another one could be set, and nothing would ever read it.
bool is_variable_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

}  // namespace

base::Result<LaunchChange> parse_variable(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return refuse("--try", text, "is not VAR=VALUE");
  const std::string name = text.substr(0, equals);
  if (!is_variable_name(name))
    return refuse("--try", name, "is no name of a variable: letters, digits and _, no digit first");
  if (checks::is_probe_variable(name))
    return refuse("--try", name,
                  "is one of those by which the probe sees: a run with another value could not be compared. "
                  "Set it in front of unhang, and it holds for every run");
  return LaunchChange{base::redact_line(text), name, text.substr(equals + 1), {}, LaunchChange::kSet};
}

base::Result<LaunchChange> parse_argument(const std::string& text, const std::vector<std::string>& command) {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-'))
    return refuse("--try-arg", text,
                  "begins with neither + (add) nor - (remove): --try-arg=+--flag, --try-arg=---flag");
  const std::string word = text.substr(1);
  if (text.front() == '+')
    return LaunchChange{"with " + base::redact_line(word), {}, {}, word, LaunchChange::kAdd};
  for (const std::string& known : command) {
    if (known == word || known.starts_with(word + "="))
      return LaunchChange{"without " + base::redact_line(known), {}, {}, known, LaunchChange::kRemove};
  }
  return base::fail(base::ErrorCode::kUsage,
                    "--try-arg: the command has no argument '" + base::printable(word) + "' to remove");
}

void apply(const LaunchChange& change, std::vector<std::string>& words,
           std::vector<std::string>& environment) {
  switch (change.kind) {
    case LaunchChange::kSet:
      set_in(environment, change.variable, change.value);
      break;
    case LaunchChange::kAdd:
      words.push_back(change.argument);
      break;
    case LaunchChange::kRemove:
      std::erase(words, change.argument);
      break;
  }
}

}  // namespace unhang::cli
