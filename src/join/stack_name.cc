// SPDX-License-Identifier: Apache-2.0
#include "join/stack_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace unhang::join {
namespace {

constexpr std::array<std::string_view, 8> kTools{"pyspy", "spy", "gdb",    "pstack",
                                                 "stack", "bt",  "stacks", "faulthandler"};
constexpr std::size_t kMaxDigits = 9;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The words of a name: runs of letters and runs of digits.
struct Words {
  std::string_view rest;

  std::string_view next() {
    while (!rest.empty() && std::isalnum(static_cast<unsigned char>(rest.front())) == 0)
      rest.remove_prefix(1);
    if (rest.empty()) return {};
    const bool digits = is_digit(rest.front());
    std::size_t end = 1;
    while (end < rest.size() && is_digit(rest[end]) == digits &&
           std::isalnum(static_cast<unsigned char>(rest[end])) != 0)
      ++end;
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
  }
};

}  // namespace

StackName read_stack_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/!");
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  StackName out;
  std::string before;
  Words words{name};
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (is_digit(word.front()) && word.size() <= kMaxDigits) {
      const std::int64_t number = std::stoll(std::string(word));
      if (before == "rank" && number < 1 << 22) {
        out.rank = static_cast<std::int32_t>(number);
      } else if (before == "pid") {
        out.pid = number;
      } else if (out.pid < 0 && std::find(kTools.begin(), kTools.end(), before) != kTools.end()) {
        out.pid = number;
      }
    }
    before = word;
  }
  return out;
}

}  // namespace unhang::join
