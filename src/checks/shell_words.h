// SPDX-License-Identifier: Apache-2.0
//
// The words of one line as a shell, or systemd, splits them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unhang::checks {

struct ShellWord {
  std::string text;          // without its quotes
  bool is_expanded = false;  // holds $x, $(…) or `…` outside of single quotes: its value is not known here
};

// Ends at a comment, at ; & | < > or at the end. An open quote ends with the line.
std::vector<ShellWord> shell_words(std::string_view line);
// systemd.exec(5): quotes and C escapes, %% for %, no expansion of $.
std::vector<ShellWord> systemd_words(std::string_view line);

}  // namespace unhang::checks
