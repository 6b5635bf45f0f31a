// SPDX-License-Identifier: Apache-2.0
//
// What stdout is good for: how wide, and whether colours are wanted.
#pragma once

#include <optional>

namespace unhang::os {

struct Terminal {
  int width = 80;  // 20 to 1000
  bool color = false;
  bool is_terminal = false;
};

// Width: COLUMNS, else what the terminal says, else 80. Colours: `color_wanted` (the flag) when given, else
// only on a terminal that is not TERM=dumb, and without NO_COLOR. Reads the environment: call it before
// threads might change that.
Terminal inspect_stdout(std::optional<bool> color_wanted);
// The same for any descriptor.
Terminal inspect_terminal(int fd, std::optional<bool> color_wanted);

}  // namespace unhang::os
