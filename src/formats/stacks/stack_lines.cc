// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/stack_lines.h"

#include <algorithm>
#include <charconv>

namespace unhang::formats::stacks {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kMaxProgram = 256;

// Takes out "ESC [ 33 m".
void strip_colours(std::string_view line, std::string& out) {
  out.clear();
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != kEscape) {
      out += line[at];
      continue;
    }
    if (at + 1 >= line.size() || line[at + 1] != '[') continue;
    at += 2;
    while (at < line.size() && (line[at] == ';' || (line[at] >= '0' && line[at] <= '9'))) ++at;
  }
}

}  // namespace

std::optional<std::string_view> StackLines::next() {
  if (x_rest.empty()) return std::nullopt;
  const std::size_t end = x_rest.find('\n');
  std::string_view line = x_rest.substr(0, end);
  x_rest = end == std::string_view::npos ? std::string_view() : x_rest.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find(kEscape) == std::string_view::npos) return line;
  strip_colours(line, x_plain);
  return x_plain;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::string program_of(std::string_view command_line) {
  std::string_view word = command_line.substr(0, command_line.find(' '));
  const std::size_t slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  return std::string(word.substr(0, kMaxProgram));
}

}  // namespace unhang::formats::stacks
