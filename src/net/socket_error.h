// SPDX-License-Identifier: Apache-2.0
//
// An errno in words that fit in the middle of a sentence.
#pragma once

#include <string>

namespace unhang::net {

// "connection refused", "no route to host".
std::string error_text(int error);

}  // namespace unhang::net
