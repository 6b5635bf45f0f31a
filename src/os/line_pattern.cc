// SPDX-License-Identifier: Apache-2.0
#include "os/line_pattern.h"

#include <algorithm>
#include <array>
#include <utility>

#include <regex.h>

namespace unhang::os {

struct LinePattern::Compiled {
  regex_t expression{};
};

LinePattern::LinePattern(std::unique_ptr<Compiled> compiled) : x_compiled(std::move(compiled)) {}

LinePattern::~LinePattern() {
  ::regfree(&x_compiled->expression);
}

base::Result<std::unique_ptr<LinePattern>> LinePattern::compile(const std::string& text) {
  // What takes exponential time or memory with the C library's matcher, and nobody needs to name a process.
  constexpr std::size_t kLongest = 256;
  const bool repeats_often = std::count(text.begin(), text.end(), '{') > 1;
  bool refers_back = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    ++i;
    refers_back = refers_back || (text[i] >= '1' && text[i] <= '9');
  }
  if (text.size() > kLongest || repeats_often || refers_back)
    return base::fail(base::ErrorCode::kUsage,
                      "the pattern is longer than 256 bytes, or uses \\1 or more than one {}: say it in a "
                      "simpler way");
  auto compiled = std::make_unique<Compiled>();
  const int error = ::regcomp(&compiled->expression, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    std::array<char, 128> reason{};
    ::regerror(error, &compiled->expression, reason.data(), reason.size());
    return base::fail(base::ErrorCode::kUsage,
                      "'" + text + "' is no regular expression: " + std::string(reason.data()));
  }
  return std::unique_ptr<LinePattern>(new LinePattern(std::move(compiled)));
}

bool LinePattern::matches(const std::string& line) const {
  return ::regexec(&x_compiled->expression, line.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace unhang::os
