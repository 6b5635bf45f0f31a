// SPDX-License-Identifier: Apache-2.0
//
// Values that are secret because of the name in front of them. Part of base/redaction.h.
#pragma once

#include <string_view>

#include "base/token_shape.h"

namespace unhang::base {

// The secret whose separator from its name ('=', ':', " set to ", …) begins at line[at].
Removal secret_value_at(std::string_view line, std::size_t at);

// The end of a value without quotes that begins at line[from]: the next blank or closing quote, without the
// punctuation of a sentence.
std::size_t bare_value_end(std::string_view line, std::size_t from);

}  // namespace unhang::base
