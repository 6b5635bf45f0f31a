// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_codes.h"

#include <vector>

#include <gtest/gtest.h>
#include <sysexits.h>

namespace unhang::cli {
namespace {

TEST(ExitCodes, ErrorsFollowSysexits) {
  EXPECT_EQ(exit_code(base::ErrorCode::kUsage), EX_USAGE);
  EXPECT_EQ(exit_code(base::ErrorCode::kData), EX_DATAERR);
  EXPECT_EQ(exit_code(base::ErrorCode::kNoInput), EX_NOINPUT);
  EXPECT_EQ(exit_code(base::ErrorCode::kUnavailable), EX_UNAVAILABLE);
  EXPECT_EQ(exit_code(base::ErrorCode::kInternal), EX_SOFTWARE);
  EXPECT_EQ(exit_code(base::ErrorCode::kIo), EX_IOERR);
  EXPECT_EQ(exit_code(base::ErrorCode::kTryAgain), EX_TEMPFAIL);
  EXPECT_EQ(exit_code(base::ErrorCode::kConfig), EX_CONFIG);
}

TEST(ExitCodes, TablesAreAscendingAndSayWhatTheyMean) {
  int last = -1;
  for (const auto table : {verdict_exit_codes(), error_exit_codes()}) {
    for (const ExitMeaning& row : table) {
      EXPECT_GT(row.code, last);
      EXPECT_FALSE(row.means.empty());
      last = row.code;
    }
  }
  EXPECT_EQ(last, 124);
}

TEST(ExitCodes, StylesMapEachCode) {
  const std::vector<int> codes = {0, 1, 2, 3, 64, 65, 66, 69, 70, 74, 75, 78, 124};
  const auto mapped = [&](std::string_view style) {
    std::vector<int> out;
    out.reserve(codes.size());
    for (const int code : codes) out.push_back(styled_exit_code(parse_exit_style(style).value(), code));
    return out;
  };
  EXPECT_EQ(mapped("default"), codes);
  EXPECT_EQ(mapped("nagios"), (std::vector<int>{0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(mapped("npd"), (std::vector<int>{0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(mapped("nhc"), (std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(mapped("zero"), (std::vector<int>{0, 0, 0, 0, 64, 65, 66, 69, 70, 74, 75, 78, 124}));
}

TEST(ExitCodes, AStyleThatDoesNotExist) {
  EXPECT_EQ(parse_exit_style("Nagios"), std::nullopt);
  EXPECT_EQ(parse_exit_style(""), std::nullopt);
}

}  // namespace
}  // namespace unhang::cli
