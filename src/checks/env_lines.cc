// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "checks/engine_command.h"
#include "checks/env_sources.h"
#include "checks/shell_words.h"

namespace unhang::checks {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

class LineReader {
 public:
  explicit LineReader(const std::string& name) : x_name(name) {}

  base::Result<EnvSources> read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.find('\0') != std::string_view::npos) return read_environ(text);
    x_unit = text.starts_with("[") || text.find("\n[Service]") != std::string_view::npos;
    x_shell = text.starts_with("export ") || text.find("\nexport ") != std::string_view::npos ||
              text.starts_with("#!");
    each_line(text);
    return finish();
  }

 private:
  // What /proc/PID/environ holds: of a name that is there twice the first counts.
  base::Result<EnvSources> read_environ(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\0'), text.size());
      const std::string_view entry = text.substr(0, end);
      const std::size_t equals = entry.find('=');
      if (equals != std::string_view::npos && !x_environment.has(entry.substr(0, equals)))
        add(entry.substr(0, equals), std::string(entry.substr(equals + 1)), true);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (Variable& variable : x_environment.variables) variable.where = x_name;
    return finish();
  }

  void each_line(std::string_view text) {
    std::string joined;
    std::uint64_t line = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view piece = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line;
      if (joined.empty()) x_line = line;
      x_carriage_return = piece.ends_with('\r');
      if (x_carriage_return) piece.remove_suffix(1);
      // A backslash joins the next line, in shells and in units.
      if ((x_shell || x_unit) && piece.ends_with('\\') && !text.empty()) {
        joined += piece.substr(0, piece.size() - 1);
        continue;
      }
      joined += piece;
      one_line(trimmed(joined));
      joined.clear();
    }
  }

  void one_line(std::string_view line) {
    if (line.empty() || line.front() == '#' || line.front() == ';') return;
    if (!x_environment.engine) x_environment.engine = engine_of_command(line);
    if (line.front() == '[') return;
    if (x_unit) return unit_line(line);
    for (const std::string_view lead : {"export ", "declare -x ", "typeset -x ", "ENV "}) {
      if (line.starts_with(lead)) {
        x_form = base::EnvForm::kExport;
        return assignments(shell_words(line.substr(lead.size())), lead == "ENV ");
      }
    }
    if (line.starts_with("unset ")) return unset(shell_words(line.substr(6)));
    if (line.starts_with("setenv ")) {
      const auto words = shell_words(line.substr(7));
      if (words.size() == 2) add(words[0].text, words[1].text, !words[1].is_expanded);
      return;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || !is_name(line.substr(0, equals))) {
      ++x_unread;
      return;
    }
    if (x_shell) return assignments(shell_words(line), false);
    plain(line.substr(0, equals), line.substr(equals + 1));
  }

  void unit_line(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (key == "Environment") {
      x_form = base::EnvForm::kSystemd;
      assignments(systemd_words(value), false);
    } else if (key == "EnvironmentFile") {
      x_sources.notes.push_back("EnvironmentFile=" + std::string(value) +
                                " is another file: check it as well");
      x_any = true;
    }
  }

  void assignments(const std::vector<ShellWord>& words, bool may_be_old_form) {
    // Dockerfile's old form: ENV NAME value
    if (may_be_old_form && words.size() == 2 && words[0].text.find('=') == std::string::npos) {
      add(words[0].text, words[1].text, !words[1].is_expanded);
      return;
    }
    for (const ShellWord& word : words) {
      const std::size_t equals = word.text.find('=');
      if (equals == std::string::npos) continue;
      if (!is_name(std::string_view(word.text).substr(0, equals))) return;
      add(std::string_view(word.text).substr(0, equals), word.text.substr(equals + 1), !word.is_expanded);
    }
  }

  void unset(const std::vector<ShellWord>& words) {
    for (const ShellWord& word : words)
      std::erase_if(x_environment.variables, [&](const Variable& v) { return v.name == word.text; });
  }

  // Neither a shell nor systemd nor Docker for sure: a value in quotes is taken without them and marked.
  void plain(std::string_view name, std::string_view value) {
    if (x_form == base::EnvForm::kExport && x_environment.variables.empty()) x_form = base::EnvForm::kPlain;
    const bool quoted =
        value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
    if (quoted) value = value.substr(1, value.size() - 2);
    const bool expanded =
        !quoted && (value.find("$(") != std::string_view::npos || value.find("${") != std::string_view::npos);
    if (add(name, std::string(value), !expanded)) x_environment.variables.back().kept_quotes = quoted;
  }

  bool add(std::string_view name, std::string value, bool known) {
    x_any = true;
    if (!is_watched(name)) return false;
    if (x_environment.variables.size() >= kMostVariables) {
      x_too_many = true;
      return false;
    }
    x_environment.variables.push_back({.name = std::string(name),
                                       .value = std::move(value),
                                       .where = x_name + ":" + std::to_string(x_line),
                                       .known = known,
                                       .carriage_return = x_carriage_return});
    return true;
  }

  base::Result<EnvSources> finish() {
    if (!x_any) {
      return base::fail(base::ErrorCode::kData,
                        x_name +
                            ": no line sets a variable. Known are NAME=VALUE, export NAME=VALUE, "
                            "Environment= of systemd, and pod specs");
    }
    if (x_unread > 0 && !x_shell)
      x_sources.notes.push_back(
          std::to_string(x_unread) +
          (x_unread == 1 ? " line sets no variable and was" : " lines set no variable and were") +
          " passed over");
    if (x_too_many)
      x_sources.notes.push_back("only the first " + std::to_string(kMostVariables) +
                                " variables were looked at");
    x_environment.form = x_sources.form = x_form;
    x_sources.environments.push_back(std::move(x_environment));
    return std::move(x_sources);
  }

  const std::string& x_name;
  EnvSources x_sources;
  Environment x_environment;
  base::EnvForm x_form = base::EnvForm::kExport;
  std::uint64_t x_line = 0, x_unread = 0;
  bool x_shell = false, x_unit = false, x_any = false, x_carriage_return = false, x_too_many = false;
};

}  // namespace

base::Result<EnvSources> read_env_lines(std::string_view text, const std::string& name) {
  return LineReader(name).read(text);
}

}  // namespace unhang::checks
