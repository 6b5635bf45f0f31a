// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/exposition.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "formats/engine_metrics/engine_metrics.h"

namespace unhang::formats::engine_metrics {
namespace {

std::optional<Exposed> parsed(std::string_view rest) {
  Exposed out;
  if (!parse_exposed(rest, out)) return std::nullopt;
  return out;
}

TEST(Exposition, ReadsAPlainValue) {
  const auto value = parsed(" 12.5");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->value, 12.5);
  EXPECT_TRUE(value->labels.empty());
}

TEST(Exposition, ReadsLabelsWithEscapes) {
  const auto value = parsed(R"({ a="x\\y\"z\nw\q" , b="" , } 3)");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->labels.size(), 2u);
  EXPECT_EQ(value->labels[0].name, "a");
  EXPECT_EQ(value->labels[0].value, "x\\y\"z\nw\\q");
  EXPECT_EQ(value->labels[1].value, "");
  EXPECT_EQ(value->value, 3);
}

TEST(Exposition, BracesAndCommasInsideAValueAreText) {
  const auto value = parsed(R"({model_name="a}b,c=\"d\"",engine="1"} 7)");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->labels[0].value, "a}b,c=\"d\"");
  EXPECT_EQ(value->labels[1].value, "1");
}

TEST(Exposition, PassesOverTimesAndExemplars) {
  for (const char* rest : {" 5 1732900000000", " 5 1732900000.123", " 5 # {trace_id=\"ab\"} 0.4 1732900000",
                           " 5 1732900000 # {} 1", "\t5\t", "{} 5"}) {
    const auto value = parsed(rest);
    ASSERT_TRUE(value) << rest;
    EXPECT_EQ(value->value, 5) << rest;
  }
}

TEST(Exposition, RefusesWhatIsNoMetric) {
  for (const char* rest :
       {"", " ", "{", "{a}", "{a=}", "{a=\"x}", "{a=\"x\"", "{a=\"x\"} ", "{a=\"x\" b=\"y\"} 1", "{=\"x\"} 1",
        " x", " 1 2 3", " 1 x", " 0x10", " 1e", " --1", "{a=\"x\\", " 1,5", "{1a=\"x\"} 1"}) {
    EXPECT_FALSE(parsed(rest)) << rest;
  }
}

TEST(Exposition, Numbers) {
  EXPECT_EQ(parse_number("1e3"), 1000);
  EXPECT_EQ(parse_number("+2.5"), 2.5);
  EXPECT_EQ(parse_number("-3"), -3);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_TRUE(std::isinf(*parse_number("+Inf")));
  EXPECT_LT(*parse_number("-Inf"), 0);
  EXPECT_TRUE(std::isinf(*parse_number("inf")));
  EXPECT_TRUE(std::isnan(*parse_number("NaN")));
  for (const char* text : {"", "+", "-", "e3", "1x", "nano", "1 "}) EXPECT_FALSE(parse_number(text)) << text;
}

TEST(Exposition, CeilingsAreKept) {
  std::string many = "{";
  for (std::size_t i = 0; i <= kMaxLabels; ++i) many += "l" + std::to_string(i) + "=\"\",";
  EXPECT_FALSE(parsed(many + "} 1"));
  EXPECT_FALSE(parsed("{a=\"" + std::string(kMaxLabelValue + 1, 'x') + "\"} 1"));
  EXPECT_TRUE(parsed("{a=\"" + std::string(kMaxLabelValue, 'x') + "\"} 1"));
}

TEST(Exposition, LeadingName) {
  EXPECT_EQ(leading_name("vllm:num_requests_running{"), "vllm:num_requests_running");
  EXPECT_EQ(leading_name("1a"), "");
  EXPECT_EQ(leading_name(""), "");
}

}  // namespace
}  // namespace unhang::formats::engine_metrics
