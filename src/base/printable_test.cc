// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(Printable, OrdinaryTextStays) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("node3/dump_7 \\x"), "node3/dump_7 \\x");
  EXPECT_EQ(printable("Grüße … 日本 😀"), "Grüße … 日本 😀");
}

TEST(Printable, ControlsAreShownAndNotObeyed) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("a\r\n\tb\x7f"), "a\\x0d\\x0a\\x09b\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1: the one-character CSI
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj"),
            "\\xe2\\x80\\xaegpj");                            // right-to-left override
  EXPECT_EQ(printable("\xe2\x80\xa8x"), "\\xe2\\x80\\xa8x");  // line separator
}

TEST(Printable, BytesThatAreNoTextAreShown) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3");                           // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xc3\xbc\x80z"), "\xc3\xbc\\x80z");           // resumes after a stray byte
}

}  // namespace
}  // namespace unhang::base
