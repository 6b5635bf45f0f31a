// SPDX-License-Identifier: Apache-2.0
#include "detect/call_keys.h"

#include <algorithm>

namespace unhang::detect {
namespace {

using model::Operation;
using model::OpKind;
using model::Signature;

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (const std::int64_t number : numbers) out += std::to_string(number) + ',';
  return out;
}

std::string size_key(const model::Case& joined, const Signature& signature) {
  const auto in = joined.vocabulary.shapes.encoded(signature.input_shapes);
  const auto out = joined.vocabulary.shapes.encoded(signature.output_shapes);
  switch (signature.kind) {
    case OpKind::kAllReduce:
    case OpKind::kBroadcast:
    case OpKind::kReduce: {
      const auto inputs = numbers_text(model::elements_per_tensor(in));
      const auto outputs = numbers_text(model::elements_per_tensor(out));
      return out.empty() || inputs == outputs ? inputs : inputs + "->" + outputs;
    }
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
      return std::to_string(model::total_elements(in)) +
             (out.empty() ? "" : "->" + std::to_string(model::total_elements(out)));
    case OpKind::kGather:
      return std::to_string(model::total_elements(in));
    case OpKind::kScatter:
      return std::to_string(model::total_elements(out));
    case OpKind::kSend:
    case OpKind::kRecv:
      return std::to_string(model::total_elements(in));
    case OpKind::kAllToAll:
    case OpKind::kBarrier:
    case OpKind::kCoalesced:
    case OpKind::kOther:
      return {};
  }
  return {};
}

// "Float,Float" -> "Float": lists of tensors have one type in all sane calls.
std::string distinct_dtypes(std::string_view list) {
  std::string out;
  std::string_view last;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view dtype = list.substr(0, comma);
    if (dtype != last) out += (out.empty() ? "" : ",") + std::string(dtype);
    last = dtype;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return out;
}

// Outputs count only where their type is not that of the inputs: the root of a gather has outputs and the
// others have none, and still they match.
std::string dtype_key(const model::Case& joined, const Signature& signature) {
  const std::string_view in = joined.text(signature.input_dtypes);
  const std::string_view out = joined.text(signature.output_dtypes);
  std::string inputs = distinct_dtypes(in);
  const std::string outputs = distinct_dtypes(out);
  if (inputs.empty() || outputs.empty() || inputs == outputs) return inputs.empty() ? outputs : inputs;
  return inputs + "->" + outputs;
}

}  // namespace

std::string_view relation_name(Relation relation) {
  switch (relation) {
    case Relation::kMatched:
      return "matched";
    case Relation::kOpMismatch:
      return "op_mismatch";
    case Relation::kDtypeMismatch:
      return "dtype_mismatch";
    case Relation::kSizeMismatch:
      return "size_mismatch";
    case Relation::kUndecided:
      return "undecided";
  }
  return "undecided";
}

std::uint32_t CallKeys::add(Parts parts) {
  std::string key = parts.op + '\0' + parts.dtype + '\0' + parts.size;
  return x_index.add(key, [&] { x_parts.push_back(std::move(parts)); });
}

std::uint32_t CallKeys::key_of_signature(model::SignatureId id) {
  if (id >= x_by_signature.size()) x_by_signature.resize(x_case.vocabulary.signature_count(), 0);
  std::uint32_t& known = x_by_signature[id];
  if (known == 0) {
    const Signature& signature = x_case.vocabulary.signature(id);
    Parts parts;
    parts.op = signature.kind == OpKind::kOther ? std::string(x_case.text(signature.name))
                                                : std::string(model::op_kind_name(signature.kind));
    parts.dtype = dtype_key(x_case, signature);
    parts.size = size_key(x_case, signature);
    parts.sizes_free = signature.kind == OpKind::kAllToAll;
    known = add(std::move(parts)) + 1;
  }
  return known - 1;
}

std::uint32_t CallKeys::key(const model::Rank& rank, std::uint32_t index) {
  const Operation& op = rank.operations[index];
  if (!op.has(Operation::kClosing) || op.has(Operation::kP2p)) return key_of_signature(op.signature);
  Parts block;
  block.op = std::string(x_case.text(x_case.signature(op).name));
  std::vector<std::uint32_t> inner;
  for (std::uint32_t i = index; i-- > 0;) {
    const Operation& before = rank.operations[i];
    if (before.group != op.group) continue;
    if (!before.has(Operation::kInner) || before.collective_sequence != op.collective_sequence) break;
    inner.push_back(key_of_signature(before.signature));
  }
  for (auto at = inner.rbegin(); at != inner.rend(); ++at) {
    block.op += ' ' + x_parts[*at].op;
    block.dtype += x_parts[*at].dtype + ' ';
    block.size += x_parts[*at].size + ' ';
  }
  return add(std::move(block));
}

Relation CallKeys::relate(std::uint32_t a, std::uint32_t b) const {
  const Parts& left = x_parts[a];
  const Parts& right = x_parts[b];
  if (left.op != right.op) return Relation::kOpMismatch;
  if (left.dtype != right.dtype) return Relation::kDtypeMismatch;
  if (left.size != right.size) return Relation::kSizeMismatch;
  return left.sizes_free || right.sizes_free ? Relation::kUndecided : Relation::kMatched;
}

bool CallKeys::contradicts_itself(const model::Case& joined, const Operation& op, std::size_t members) {
  const Signature& signature = joined.signature(op);
  if (signature.input_shapes == 0 || signature.output_shapes == 0) return false;
  const auto in = joined.vocabulary.shapes.encoded(signature.input_shapes);
  const auto out = joined.vocabulary.shapes.encoded(signature.output_shapes);
  const std::int64_t inputs = model::total_elements(in);
  const std::int64_t outputs = model::total_elements(out);
  const auto count = static_cast<std::int64_t>(members);
  switch (signature.kind) {
    case OpKind::kAllReduce:
      return inputs != outputs;
    // List forms record one tensor only in some versions: judge the single-tensor forms, and only when it
    // divides.
    case OpKind::kAllGather:
      return model::tensor_count(in) == 1 && model::tensor_count(out) == 1 && count > 0 && inputs > 0 &&
             outputs > 0 && inputs <= outputs / count && outputs != inputs * count && outputs % count != 0;
    default:
      return false;
  }
}

}  // namespace unhang::detect
