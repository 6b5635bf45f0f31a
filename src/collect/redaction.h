// SPDX-License-Identifier: Apache-2.0
//
// What must not get into a bundle: passwords and tokens. A bundle is made to be sent around.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unhang::collect {

// "https://user:secret@node3:8000/metrics?token=abc#x" -> "https://node3:8000/metrics?token=removed": no user
// name, no password, no value behind the question mark, nothing behind "#".
std::string without_secrets(std::string_view url);

// A text of many lines with the secrets of each taken out (base/redaction.h).
std::string without_secrets_in_text(std::string_view text);

// The variables of a worker that are kept: those that say which rank it is and how its communication was set
// up. Names that end in '*' are beginnings.
const std::vector<std::string>& kept_variables();
// Whether one may be kept: on that list, and its name does not sound like a secret.
bool may_be_kept(std::string_view variable);

}  // namespace unhang::collect
