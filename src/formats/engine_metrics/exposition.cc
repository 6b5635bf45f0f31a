// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/exposition.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "formats/engine_metrics/engine_metrics.h"

namespace unhang::formats::engine_metrics {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// A quoted value; `text` stands behind its closing quote afterwards.
bool parse_quoted(std::string_view& text, std::string& value) {
  if (text.empty() || text.front() != '"') return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (c == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      if (next != '"' && next != '\\' && next != 'n') value += '\\';
      c = next == 'n' ? '\n' : next;
    }
    if (value.size() >= kMaxLabelValue) return false;
    value += c;
  }
  return false;
}

// `{a="b",c="d"}`; a comma may stand before the closing brace.
bool parse_labels(std::string_view& text, std::vector<Label>& labels) {
  text.remove_prefix(1);
  for (;;) {
    skip_blanks(text);
    if (!text.empty() && text.front() == '}') {
      text.remove_prefix(1);
      return true;
    }
    const std::string_view name = leading_name(text);
    if (name.empty() || labels.size() >= kMaxLabels) return false;
    text.remove_prefix(name.size());
    skip_blanks(text);
    if (text.empty() || text.front() != '=') return false;
    text.remove_prefix(1);
    skip_blanks(text);
    labels.push_back({name, {}});
    if (!parse_quoted(text, labels.back().value)) return false;
    skip_blanks(text);
    if (!text.empty() && text.front() == ',') {
      text.remove_prefix(1);
    } else if (text.empty() || text.front() != '}') {
      return false;
    }
  }
}

std::string_view next_word(std::string_view& text) {
  skip_blanks(text);
  std::size_t end = 0;
  while (end < text.size() && !is_blank(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  skip_blanks(text);
  return word;
}

}  // namespace

std::string_view leading_name(std::string_view line) {
  if (line.empty() || !is_letter(line.front())) return {};
  std::size_t end = 1;
  while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]))) ++end;
  return line.substr(0, end);
}

std::optional<double> parse_number(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity")) {
    const double infinite = std::numeric_limits<double>::infinity();
    return negative ? -infinite : infinite;
  }
  if (equals_ignoring_case(text, "nan")) return std::nan("");
  if (!is_digit(text.front()) && text.front() != '.') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

bool parse_exposed(std::string_view rest, Exposed& out) {
  out.labels.clear();
  if (rest.empty()) return false;
  skip_blanks(rest);
  if (!rest.empty() && rest.front() == '{') {
    if (!parse_labels(rest, out.labels)) return false;
  }
  const std::optional<double> value = parse_number(next_word(rest));
  if (!value) return false;
  out.value = *value;
  // A time stamp, then an exemplar, may follow.
  if (!rest.empty() && rest.front() != '#' && !parse_number(next_word(rest))) return false;
  return rest.empty() || rest.front() == '#';
}

}  // namespace unhang::formats::engine_metrics
