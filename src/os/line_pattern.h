// SPDX-License-Identifier: Apache-2.0
//
// A regular expression that a person typed (POSIX extended), for choosing among short lines such as command
// lines. Not for evidence: its time is not bounded by the length of a hostile line.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace unhang::os {

class LinePattern {
 public:
  // kUsage where it is none, with the reason.
  static base::Result<std::unique_ptr<LinePattern>> compile(const std::string& text);
  ~LinePattern();
  LinePattern(const LinePattern&) = delete;
  LinePattern& operator=(const LinePattern&) = delete;

  // Anywhere in the line, up to its first NUL.
  bool matches(const std::string& line) const;

 private:
  struct Compiled;
  explicit LinePattern(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> x_compiled;
};

}  // namespace unhang::os
