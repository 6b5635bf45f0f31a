// SPDX-License-Identifier: Apache-2.0
//
// What must be equal when members of a group call the same operation. Shapes may differ where the library
// does not care
// ([8,8] against [64] is the same 64 elements); sizes of an all_to_all differ by design. Each call is reduced
// to a small number, equal for calls that fit together, so that a row of a thousand ranks is compared in a
// thousand steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/key_index.h"
#include "model/case.h"

namespace unhang::detect {

// How one call relates to the one it is compared with; the first difference in this order counts.
enum class Relation : std::uint8_t {
  kMatched,
  kOpMismatch,
  kDtypeMismatch,
  kSizeMismatch,
  kUndecided,  // sizes may differ by design and the dump does not hold what would decide (all_to_all splits)
};
std::string_view relation_name(Relation relation);

class CallKeys {
 public:
  explicit CallKeys(const model::Case& joined) : x_case(joined) {}

  // Key of operation `index` of `rank`; for the closing entry of a coalesced block the key stands for the
  // whole block.
  std::uint32_t key(const model::Rank& rank, std::uint32_t index);

  // Compares two keys from this object.
  Relation relate(std::uint32_t a, std::uint32_t b) const;

  // An operation whose own tensors contradict each other (all_reduce with input and output of different
  // size).
  static bool contradicts_itself(const model::Case& joined, const model::Operation& op, std::size_t members);

 private:
  struct Parts {
    std::string op, dtype, size;
    bool sizes_free = false;
  };
  std::uint32_t key_of_signature(model::SignatureId id);
  std::uint32_t add(Parts parts);

  const model::Case& x_case;
  base::KeyIndex x_index;
  std::vector<Parts> x_parts;
  std::vector<std::uint32_t> x_by_signature;  // key + 1; 0: not made yet
};

}  // namespace unhang::detect
