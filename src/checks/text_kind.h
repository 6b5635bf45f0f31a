// SPDX-License-Identifier: Apache-2.0
//
// Whether bytes are a text that variables can be read from. What is none must not be taken for a file without
// variables: "nothing is wrong" would be said of what was never read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unhang::checks {

// Why it is none, and what to do: "is UTF-16 …: iconv …"; nullopt: it is text, or what /proc/PID/environ
// holds. Looks at every byte once.
std::optional<std::string> why_no_text(std::string_view bytes);

}  // namespace unhang::checks
