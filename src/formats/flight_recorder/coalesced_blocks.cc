// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/coalesced_blocks.h"

namespace unhang::formats::flight_recorder {
namespace {

using model::Operation;

bool closes_block(const model::Vocabulary& vocabulary, const Operation& op) {
  const model::Signature& signature = vocabulary.signature(op.signature);
  if (signature.input_shapes != 0 || signature.output_shapes != 0) return false;
  if (signature.kind == model::OpKind::kCoalesced) return true;
  return vocabulary.text(signature.name).ends_with("_coalesced");
}

// Operations of one batch carry the same launch number as their closing entry.
bool same_launch(const Operation& op, const Operation& closing) {
  if (op.group != closing.group) return false;
  if (closing.has(Operation::kP2p)) return op.has(Operation::kP2p) && op.p2p_sequence == closing.p2p_sequence;
  return !op.has(Operation::kP2p) && op.collective_sequence == closing.collective_sequence;
}

}  // namespace

void mark_coalesced_blocks(model::Dump& dump) {
  auto& operations = dump.operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!closes_block(dump.vocabulary, operations[i])) continue;
    operations[i].flags |= Operation::kClosing;
    // Entries of a batch stand directly before its end: a batch is built by one thread of the program. Others
    // may stand between them only when another thread used another group meanwhile.
    constexpr std::size_t kForeignAtMost = 64;
    std::size_t foreign = 0;
    for (std::size_t j = i; j-- > 0 && foreign < kForeignAtMost;) {
      if (operations[j].has(Operation::kClosing) && operations[j].group == operations[i].group) break;
      if (same_launch(operations[j], operations[i])) {
        operations[j].flags |= Operation::kInner;
      } else if (operations[j].group == operations[i].group) {
        break;
      } else {
        ++foreign;
      }
    }
  }
}

}  // namespace unhang::formats::flight_recorder
