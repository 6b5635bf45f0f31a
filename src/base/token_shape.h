// SPDX-License-Identifier: Apache-2.0
//
// Tokens that are known by how they look, and passwords inside of addresses. Part of base/redaction.h.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

// Bytes [begin, end) of a line, and what stands there instead.
struct Removal {
  std::size_t begin = 0;
  std::size_t end = 0;  // 0: nothing to remove here
  std::string text;
};

// The token that begins at line[at], or the password of the address whose "://" begins there.
Removal token_at(std::string_view line, std::size_t at);

// The password of "user:password@host" that begins at line[at].
Removal password_at(std::string_view line, std::size_t at);

}  // namespace unhang::base
