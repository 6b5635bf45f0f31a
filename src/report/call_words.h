// SPDX-License-Identifier: Apache-2.0
//
// What was called, in words and in parts, for tables and traces. Harmless text (text_layout.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/aligned_table.h"

namespace unhang::report {

// As the program called it: "all_reduce", "_all_gather_base", "send".
std::string call_name(const model::Case& joined, const model::Operation& op);
// Elements of its input (where it has none, of its output). Nullopt: no sizes are recorded.
std::optional<std::int64_t> call_elements(const model::Case& joined, const model::Operation& op);
std::optional<std::int64_t> call_output_elements(const model::Case& joined, const model::Operation& op);
// "Float"; empty: not recorded.
std::string call_dtype(const model::Case& joined, const model::Operation& op);
// "all_reduce 64 x Float"; with `outputs` also "all_reduce 64 -> 65 x Float".
std::string call_words(const model::Case& joined, const model::Operation& op, bool outputs = false);

inline const model::Operation& operation_of(const model::Case& joined, const model::CallRef& call) {
  return joined.ranks[call.rank].operations[call.operation];
}

}  // namespace unhang::report
