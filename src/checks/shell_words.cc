// SPDX-License-Identifier: Apache-2.0
#include "checks/shell_words.h"

namespace unhang::checks {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

std::vector<ShellWord> shell_words(std::string_view line) {
  std::vector<ShellWord> words;
  ShellWord word;
  bool inside = false;
  char quote = 0;
  const auto finish = [&] {
    if (inside) words.push_back(std::move(word));
    word = {};
    inside = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool has_next = i + 1 < line.size();
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word.text += c;
      }
      continue;
    }
    if (c == '\\' && has_next) {
      const char next = line[++i];
      // In double quotes a backslash stays before anything but these.
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') word.text += '\\';
      word.text += next;
      inside = true;
      continue;
    }
    if (c == '"' || (c == '\'' && quote == 0)) {
      quote = quote == '"' ? static_cast<char>(0) : c;
      inside = true;
      continue;
    }
    if (c == '$' || c == '`') word.is_expanded = true;
    if (quote == 0) {
      if (is_blank(c)) {
        finish();
        continue;
      }
      constexpr std::string_view kEnds = ";&|<>";
      if ((c == '#' && !inside) || (kEnds.find(c) != std::string_view::npos && !word.is_expanded)) break;
    }
    word.text += c;
    inside = true;
  }
  finish();
  return words;
}

std::vector<ShellWord> systemd_words(std::string_view line) {
  std::vector<ShellWord> words;
  ShellWord word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && is_blank(c)) {
      if (inside) words.push_back(std::move(word));
      word = {};
      inside = false;
      continue;
    }
    inside = true;
    if ((c == '"' || c == '\'') && (quote == 0 || quote == c)) {
      quote = quote == c ? static_cast<char>(0) : c;
    } else if (c == '\\' && i + 1 < line.size()) {
      const char next = line[++i];
      word.text += next == 'n' ? '\n' : next == 't' ? '\t' : next == 's' ? ' ' : next;
    } else if (c == '%' && i + 1 < line.size()) {
      // A specifier: %h is the home folder of the user here, whatever NCCL means by it.
      if (line[++i] != '%') word.is_expanded = true;
      word.text += line[i] == '%' ? "%" : std::string("%") + line[i];
    } else {
      word.text += c;
    }
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

}  // namespace unhang::checks
