// SPDX-License-Identifier: Apache-2.0
//
// Lines of what a tool printed, without line ends and without the colours that a terminal would have shown,
// and the small pieces that the readers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unhang::formats::stacks {

// A file is one of stacks when they stand at its beginning, behind at most so many other lines: what a tool
// says before, or a person wrote. Further down they are a part of something else, of a log for example.
inline constexpr std::size_t kForeignAtMost = 100;

class StackLines {
 public:
  explicit StackLines(std::string_view bytes) : x_rest(bytes) {}

  // The next line; the view holds until the next call. nullopt: there is none.
  std::optional<std::string_view> next();

 private:
  std::string_view x_rest;
  std::string x_plain;
};

// The decimal number at the beginning of the text, which is moved behind it. nullopt: there is none, or it is
// larger than any.
std::optional<std::int64_t> take_number(std::string_view& text);

// Whether the text begins so; then it is moved behind it.
bool take(std::string_view& text, std::string_view word);

// "/usr/bin/python3.11 -u train.py --token x" -> "python3.11".
std::string program_of(std::string_view command_line);

}  // namespace unhang::formats::stacks
