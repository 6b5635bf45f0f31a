// SPDX-License-Identifier: Apache-2.0
#include "detect/wording.h"

#include "base/rank_set.h"

namespace unhang::detect {

std::string ranks_text(const model::Case& joined, const std::vector<model::RankIndex>& ranks) {
  const auto global = joined.global_ranks(ranks);
  return (global.size() == 1 ? "rank " : "ranks ") + base::fold_ranks(global);
}

std::string call_text(const model::Case& joined, const model::Operation& op) {
  return std::string(joined.text(joined.signature(op).name));
}

std::string operation_text(const model::Case& joined, const model::Operation& op) {
  const auto& signature = joined.signature(op);
  std::string out = call_text(joined, op);
  if (signature.self >= 0) {
    const bool send = signature.kind == model::OpKind::kSend;
    out += ' ' + std::to_string(signature.self) + (send ? "->" : "<-") + std::to_string(signature.peer);
  } else {
    out += " #" + std::to_string(op.has(model::Operation::kP2p) ? op.p2p_sequence : op.collective_sequence);
  }
  return out + " of " + joined.group_label(op.group);
}

std::string call_with_size(const model::Case& joined, const model::Operation& op) {
  const auto& signature = joined.signature(op);
  const auto& shapes = joined.vocabulary.shapes;
  const auto sizes = signature.input_shapes != 0 ? signature.input_shapes : signature.output_shapes;
  std::string out = call_text(joined, op);
  if (sizes == 0) return out;
  out += " of " + std::to_string(model::total_elements(shapes.encoded(sizes)));
  const auto dtype =
      joined.text(signature.input_dtypes != 0 ? signature.input_dtypes : signature.output_dtypes);
  if (!dtype.empty()) out += " x " + std::string(dtype);
  return out;
}

}  // namespace unhang::detect
