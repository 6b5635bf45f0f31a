// SPDX-License-Identifier: Apache-2.0
#include "model/shape_table.h"

#include <limits>

#include <gtest/gtest.h>

namespace unhang::model {
namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ShapeTable, KeepsEachListOnce) {
  ShapeTable table;
  EXPECT_EQ(table.intern({}), 0u);
  EXPECT_EQ(table.intern(Numbers{1, 8}), 1u);
  EXPECT_EQ(table.intern(Numbers{0}), 2u);
  EXPECT_EQ(table.intern(Numbers{1, 8}), 1u);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(shapes_text(table.encoded(1)), "[[8]]");
}

TEST(Shapes, ElementsOfTensors) {
  const Numbers two{1, 8, 2, 4, 4};
  EXPECT_EQ(elements_per_tensor(two), (Numbers{8, 16}));
  EXPECT_EQ(total_elements(two), 24);
  EXPECT_EQ(tensor_count(two), 2u);
  EXPECT_EQ(shapes_text(two), "[[8],[4,4]]");
}

TEST(Shapes, ScalarsHaveOneElementAndNothingHasNone) {
  EXPECT_EQ(elements_per_tensor(Numbers{0}), Numbers{1});
  EXPECT_EQ(shapes_text(Numbers{0, 0}), "[[],[]]");
  EXPECT_EQ(total_elements(Numbers{}), 0);
  EXPECT_EQ(shapes_text(Numbers{}), "[]");
  EXPECT_EQ(total_elements(Numbers{2, 0, 7}), 0);  // an empty tensor
}

TEST(Shapes, OverflowSaturates) {
  EXPECT_EQ(total_elements(Numbers{2, std::int64_t{1} << 40, std::int64_t{1} << 40}), kMost);
  EXPECT_EQ(total_elements(Numbers{1, kMost, 1, kMost}), kMost);
  EXPECT_EQ(total_elements(Numbers{1, -5}), kMost);
}

TEST(Shapes, DamagedEncodingsAreReadAsFarAsTheyGo) {
  EXPECT_EQ(tensor_count(Numbers{1, 8, 3, 1}), 1u);
  EXPECT_EQ(tensor_count(Numbers{-1, 8}), 0u);
  EXPECT_EQ(tensor_count(Numbers{kMost}), 0u);
}

}  // namespace
}  // namespace unhang::model
