// SPDX-License-Identifier: Apache-2.0
#include "report/call_words.h"

#include "report/text_layout.h"

namespace unhang::report {
namespace {

std::optional<std::int64_t> elements(const model::Case& joined, model::ShapesId shapes) {
  if (shapes == 0) return std::nullopt;
  return model::total_elements(joined.vocabulary.shapes.encoded(shapes));
}

}  // namespace

std::string call_name(const model::Case& joined, const model::Operation& op) {
  const std::string name = one_line(joined.text(joined.signature(op).name));
  return name.empty() ? "(unnamed)" : name;
}

std::optional<std::int64_t> call_elements(const model::Case& joined, const model::Operation& op) {
  const auto& signature = joined.signature(op);
  // Only the root of a scatter has inputs.
  if (signature.kind == model::OpKind::kScatter) return elements(joined, signature.output_shapes);
  return elements(joined, signature.input_shapes != 0 ? signature.input_shapes : signature.output_shapes);
}

std::optional<std::int64_t> call_output_elements(const model::Case& joined, const model::Operation& op) {
  return elements(joined, joined.signature(op).output_shapes);
}

std::string call_dtype(const model::Case& joined, const model::Operation& op) {
  const auto& signature = joined.signature(op);
  return one_line(
      joined.text(signature.input_dtypes != 0 ? signature.input_dtypes : signature.output_dtypes));
}

std::string call_words(const model::Case& joined, const model::Operation& op, bool outputs) {
  std::string out = call_name(joined, op);
  // The sizes of an all_to_all differ from rank to rank by design: one of them would mislead.
  const bool sized = outputs || joined.signature(op).kind != model::OpKind::kAllToAll;
  std::optional<std::int64_t> input;
  if (sized) input = call_elements(joined, op);
  const auto output = call_output_elements(joined, op);
  if (input) out += ' ' + std::to_string(*input);
  if (input && outputs && output && output != input) out += " -> " + std::to_string(*output);
  std::string dtype = call_dtype(joined, op);
  const std::string output_dtype = one_line(joined.text(joined.signature(op).output_dtypes));
  if (outputs && !output_dtype.empty() && output_dtype != dtype) dtype += " -> " + cut(output_dtype, 20);
  if (!dtype.empty()) out += (input ? " x " : " ") + dtype;
  return out;
}

}  // namespace unhang::report
