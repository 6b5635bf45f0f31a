// SPDX-License-Identifier: Apache-2.0
#include "os/line_pattern.h"

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
