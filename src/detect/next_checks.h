// SPDX-License-Identifier: Apache-2.0
//
// The one command that tells most about a cause that a log named: what to run first, on which machine.
#pragma once

#include <string_view>

namespace unhang::detect {

struct NextCheck {
  std::string_view cause;  // code of the cause catalogue
  std::string_view why;
  std::string_view command;  // changes nothing
};

// Null where the catalogue's own text (`unhang explain`) is all there is.
const NextCheck* find_next_check(std::string_view cause);

}  // namespace unhang::detect
