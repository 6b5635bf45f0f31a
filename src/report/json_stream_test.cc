// SPDX-License-Identifier: Apache-2.0
#include "report/json_stream.h"

#include <gtest/gtest.h>

namespace unhang::report {
namespace {

TEST(JsonStream, TextIsEscapedAndAlwaysUtf8) {
  EXPECT_EQ(json_text("a\"b\\c\n\x1b"), "\"a\\\"b\\\\c\\u000a\\u001b\"");
  EXPECT_EQ(json_text("größe"), "\"größe\"");
  EXPECT_EQ(json_text("\xff"
                      "a"),
            "\"\\\\xffa\"");
}

TEST(JsonStream, HandsOverAllBytesInOrder) {
  std::string out;
  std::size_t calls = 0;
  JsonStream json([&](std::string_view bytes) {
    out += bytes;
    ++calls;
  });
  std::string expected;
  for (std::int64_t i = 0; i < 50'000; ++i) {
    json.number(i).raw(",");
    expected += std::to_string(i) + ',';
  }
  json.number(INT64_MIN).number_or_null(std::nullopt).text_or_null("").boolean(true).flush();
  EXPECT_EQ(out, expected + "-9223372036854775808nullnulltrue");
  EXPECT_GT(calls, 2U);
  EXPECT_LT(calls, 10U);
}

}  // namespace
}  // namespace unhang::report
