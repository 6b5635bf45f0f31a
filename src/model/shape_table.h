// SPDX-License-Identifier: Apache-2.0
//
// Tensor shapes of operations, each distinct list kept once. A list is encoded flat: for each tensor the
// number of dimensions, then the dimensions; [[8],[4,4]] is 1,8,2,4,4. Scalars have no dimensions and one
// element.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace unhang::model {

using ShapesId = std::uint32_t;  // 0 is the empty list

class ShapeTable {
 public:
  ShapeTable() { intern({}); }
  ShapeTable(ShapeTable&&) = default;
  ShapeTable& operator=(ShapeTable&&) = default;
  ShapeTable(const ShapeTable&) = delete;
  ShapeTable& operator=(const ShapeTable&) = delete;

  ShapesId intern(std::span<const std::int64_t> encoded);
  std::span<const std::int64_t> encoded(ShapesId id) const { return x_lists[id]; }
  std::size_t size() const { return x_lists.size(); }

 private:
  static constexpr std::size_t kRecent = 64;  // shapes repeat: most lists are found without a search

  std::deque<std::vector<std::int64_t>> x_lists;
  std::array<ShapesId, kRecent> x_recent{};
  std::unordered_map<std::string_view, ShapesId>
      x_ids;  // keyed by the bytes of the list, which a deque never moves
};

// Elements of each tensor. Negative or overflowing dimensions (hostile input) saturate instead of wrapping.
std::vector<std::int64_t> elements_per_tensor(std::span<const std::int64_t> encoded);
std::int64_t total_elements(std::span<const std::int64_t> encoded);
std::size_t tensor_count(std::span<const std::int64_t> encoded);

// "[[8],[4,4]]"
std::string shapes_text(std::span<const std::int64_t> encoded);

}  // namespace unhang::model
