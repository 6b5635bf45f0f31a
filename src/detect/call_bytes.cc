// SPDX-License-Identifier: Apache-2.0
#include "detect/call_bytes.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace unhang::detect {
namespace {

struct TypeSize {
  std::string_view name;
  std::int64_t bytes;
};

// c10::ScalarType's names, as the Flight Recorder writes them.
constexpr TypeSize kTypes[] = {
    {"Byte", 1},
    {"Char", 1},
    {"Bool", 1},
    {"Float8_e5m2", 1},
    {"Float8_e4m3fn", 1},
    {"Float8_e5m2fnuz", 1},
    {"Float8_e4m3fnuz", 1},
    {"Float8_e8m0fnu", 1},
    {"Short", 2},
    {"UInt16", 2},
    {"Half", 2},
    {"BFloat16", 2},
    {"Int", 4},
    {"UInt32", 4},
    {"Float", 4},
    {"ComplexHalf", 4},
    {"Long", 8},
    {"UInt64", 8},
    {"Double", 8},
    {"ComplexFloat", 8},
    {"ComplexDouble", 16},
};

std::optional<std::int64_t> side_bytes(const model::Case& joined, model::ShapesId shapes,
                                       model::SymbolId types) {
  if (shapes == 0) return std::nullopt;
  const std::string_view names = joined.text(types);
  const std::string_view name = names.substr(0, names.find(','));  // of a list the first: they are alike
  const auto* const at = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const TypeSize& type) { return type.name == name; });
  const std::int64_t elements = model::total_elements(joined.vocabulary.shapes.encoded(shapes));
  if (at == std::end(kTypes) || elements < 0) return std::nullopt;
  if (elements > std::numeric_limits<std::int64_t>::max() / at->bytes) return std::nullopt;
  return elements * at->bytes;
}

}  // namespace

std::optional<std::int64_t> call_bytes(const model::Case& joined, const model::Signature& signature) {
  const auto in = side_bytes(joined, signature.input_shapes, signature.input_dtypes);
  const auto out = side_bytes(joined, signature.output_shapes, signature.output_dtypes);
  if (!in || !out) return in ? in : out;
  return std::max(*in, *out);
}

}  // namespace unhang::detect
