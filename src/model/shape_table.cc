// SPDX-License-Identifier: Apache-2.0
#include "model/shape_table.h"

#include <algorithm>
#include <limits>

namespace unhang::model {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string_view bytes_of(std::span<const std::int64_t> list) {
  return {reinterpret_cast<const char*>(list.data()), list.size_bytes()};
}

template <class PerTensor>
void for_each_tensor(std::span<const std::int64_t> encoded, PerTensor&& visit) {
  for (std::size_t at = 0; at < encoded.size();) {
    const auto dims = static_cast<std::size_t>(encoded[at++]);
    if (dims > encoded.size() - at) return;
    visit(encoded.subspan(at, dims));
    at += dims;
  }
}

std::int64_t elements(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(product, d, &product)) return kMost;
  }
  return product;
}

}  // namespace

ShapesId ShapeTable::intern(std::span<const std::int64_t> encoded) {
  if (encoded.empty() && !x_lists.empty()) return 0;
  const std::uint64_t mixed =
      encoded.empty() ? 0 : static_cast<std::uint64_t>(encoded.back()) * 0x9E3779B97F4A7C15U;
  ShapesId& recent = x_recent[(mixed >> 32 ^ encoded.size()) % kRecent];
  if (recent != 0 && std::ranges::equal(x_lists[recent], encoded)) return recent;
  if (const auto found = x_ids.find(bytes_of(encoded)); found != x_ids.end()) return recent = found->second;
  x_lists.emplace_back(encoded.begin(), encoded.end());
  const auto id = static_cast<ShapesId>(x_lists.size() - 1);
  x_ids.emplace(bytes_of(x_lists.back()), id);
  return recent = id;
}

std::vector<std::int64_t> elements_per_tensor(std::span<const std::int64_t> encoded) {
  std::vector<std::int64_t> out;
  for_each_tensor(encoded, [&](auto dims) { out.push_back(elements(dims)); });
  return out;
}

std::int64_t total_elements(std::span<const std::int64_t> encoded) {
  std::int64_t sum = 0;
  for_each_tensor(encoded, [&](auto dims) {
    if (__builtin_add_overflow(sum, elements(dims), &sum)) sum = kMost;
  });
  return sum;
}

std::size_t tensor_count(std::span<const std::int64_t> encoded) {
  std::size_t count = 0;
  for_each_tensor(encoded, [&](auto) { ++count; });
  return count;
}

std::string shapes_text(std::span<const std::int64_t> encoded) {
  std::string out = "[";
  for_each_tensor(encoded, [&](auto dims) {
    if (out.size() > 1) out += ',';
    out += '[';
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i != 0) out += ',';
      out += std::to_string(dims[i]);
    }
    out += ']';
  });
  return out + "]";
}

}  // namespace unhang::model
