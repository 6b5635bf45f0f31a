// SPDX-License-Identifier: Apache-2.0
#include "formats/log/training_step.h"

#include <algorithm>

#include "formats/log/find_text.h"
#include "formats/log/sentence.h"

namespace unhang::formats::log {
namespace {

// How many of `separators` stand at the beginning.
std::size_t behind_separators(std::string_view text, std::string_view separators) {
  std::size_t n = 0;
  const auto separates = [separators](char byte) {  // a call of memchr() for each costs more
    return std::any_of(separators.begin(), separators.end(), [byte](char c) { return c == byte; });
  };
  while (n < text.size() && separates(text[n])) ++n;
  return n;
}

}  // namespace

std::int64_t step_in(std::string_view text) {
  for (const std::string_view word : {"step", "Step", "iteration", "Iteration", "iter", "Iter"}) {
    std::string_view rest = text;
    for (std::size_t at = find_text(rest, word); at != rest.npos; at = find_text(rest, word)) {
      rest.remove_prefix(at + word.size());
      const std::size_t next = behind_separators(rest, " \t:=[#('\"");
      if (next >= rest.size() || next > 12 || !is_digit(rest[next])) continue;
      const auto number = leading_number(rest.substr(next));
      if (number) return *number;
    }
  }
  return -1;
}

bool has_loss(std::string_view text) {
  std::string_view rest = text;
  for (std::size_t at = find_text(rest, "loss"); at != rest.npos; at = find_text(rest, "loss")) {
    rest.remove_prefix(at + 4);
    const std::size_t next = behind_separators(rest, " \t:='\"");
    if (next >= rest.size() || next == 0 || next > 12) continue;
    const char c = rest[next];
    if (is_digit(c) || c == '-' || rest.substr(next).starts_with("nan")) return true;
  }
  return false;
}

}  // namespace unhang::formats::log
