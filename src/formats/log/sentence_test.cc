// SPDX-License-Identifier: Apache-2.0
#include "formats/log/sentence.h"

#include <gtest/gtest.h>

namespace unhang::formats::log {
namespace {

TEST(Sentence, FindsPciAddressesOfEveryForm) {
  EXPECT_EQ(pci_address("Xid (PCI:0000:b3:00): 79"), "0000:b3:00");
  EXPECT_EQ(pci_address("for GPU0000:03:00.0: Unknown Error"), "0000:03:00.0");
  EXPECT_EQ(pci_address("pci bus id 00000000:86:00.0 physical"), "00000000:86:00.0");
  EXPECT_EQ(pci_address("device [61:00.0] fault addr"), "61:00.0");
  EXPECT_EQ(pci_address("pcieport 000f:01:00.1: AER"), "000f:01:00.1");
}

TEST(Sentence, TimesAndOtherNumbersAreNoPciAddresses) {
  EXPECT_EQ(pci_address("at 10:01:59 on 2026-11-30"), "");
  EXPECT_EQ(pci_address("PCI:...): 145"), "");
  EXPECT_EQ(pci_address("fe80:0000:0000:0000:0e42"), "");
  EXPECT_EQ(pci_address("12:34"), "");
}

TEST(Sentence, Numbers) {
  EXPECT_EQ(leading_number(" 79, pid"), 79);
  EXPECT_EQ(leading_number("-1"), -1);
  EXPECT_FALSE(leading_number("x1"));
  EXPECT_FALSE(leading_number("99999999999999999999"));
  EXPECT_EQ(leading_hex("0x2 (Node"), 2u);
  EXPECT_EQ(leading_hex("001d"), 0x1du);
  EXPECT_DOUBLE_EQ(*whole_fraction("1.2e+06"), 1.2e6);
  EXPECT_FALSE(whole_fraction("N/A"));
  EXPECT_FALSE(whole_fraction("3.5x"));
  EXPECT_FALSE(whole_fraction("nan"));
}

TEST(Sentence, Pieces) {
  EXPECT_EQ(words_of(" a\tb  c ", 8), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(words_of("a b c", 2).size(), 2u);
  EXPECT_EQ(cells_of("0, NVIDIA A, x", ',', 8), (std::vector<std::string_view>{"0", "NVIDIA A", "x"}));
  EXPECT_EQ(last_word("a b: c"), "c");
  EXPECT_EQ(behind("one two three", "two "), "three");
  EXPECT_FALSE(behind("one", "two"));
}

}  // namespace
}  // namespace unhang::formats::log
