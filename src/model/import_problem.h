// SPDX-License-Identifier: Apache-2.0
//
// What could not be read is data too: each trouble with an input is one record, shown to the person and
// counted in the coverage, and never ends the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace unhang::model {

enum class Severity : std::uint8_t {
  kInfo,      // worth a line, nothing lost (a file that is not evidence, a duplicate)
  kError,     // this input, or a part of it, says something that cannot be right
  kDataLoss,  // something that was there could not be read
};

struct ImportProblem {
  Severity severity = Severity::kError;
  std::string code;  // stable word: "truncated", "empty", "refused_opcode", "too_large", "not_recognised" …
  std::string text;  // for a person: what is wrong and what to do
  std::optional<std::uint64_t> offset;  // byte position inside the (uncompressed) input
  std::uint64_t bytes_lost = 0;         // 0 when not known
};

}  // namespace unhang::model
