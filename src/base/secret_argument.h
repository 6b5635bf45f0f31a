// SPDX-License-Identifier: Apache-2.0
//
// Secrets that are arguments of a program whose flag does not say so: `curl -u user:password`,
// `docker login -p password`. Part of base/redaction.h.
#pragma once

#include <string_view>

#include "base/token_shape.h"

namespace unhang::base {

// The secret behind the flag that ends at line[at], a blank, '=' or ','; or whose flag and value, written as
// one word, begin behind the blank at line[at]. Looks at a bounded number of bytes in front of it.
Removal secret_argument_at(std::string_view line, std::size_t at);

}  // namespace unhang::base
