// SPDX-License-Identifier: Apache-2.0
//
// Our own documents say what they are: {"schema": "unhang.NAME/1", …}.
#pragma once

#include <string_view>

namespace unhang::formats {

// Whether `bytes` begin an object of JSON whose first key "schema" has a text that begins with `stem`
// ("unhang.bundle/"). We write it near the beginning; a document that merely mentions it somewhere is
// another. Looks at no more than the first 4 KiB.
bool states_schema(std::string_view bytes, std::string_view stem);

}  // namespace unhang::formats
