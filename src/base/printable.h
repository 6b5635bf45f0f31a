// SPDX-License-Identifier: Apache-2.0
//
// Text from outside (file names, log lines, stacks) made safe to show on a terminal or in a message: what
// would move the cursor, change colours or turn the direction of writing is shown as an escape instead of
// being obeyed.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

// Valid UTF-8 stays; control characters (also tab and newline), bytes that are no UTF-8 and bidirectional
// controls become \xNN, byte by byte. The result is valid UTF-8 on one line.
std::string printable(std::string_view text);

}  // namespace unhang::base
