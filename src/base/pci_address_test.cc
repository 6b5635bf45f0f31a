// SPDX-License-Identifier: Apache-2.0
#include "base/pci_address.h"

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

TEST(PciAddress, BringsAllSpellingsToOne) {
  for (const char* text : {"0000:b3:00.0", "00000000:B3:00.0", "0000:b3:00", "b3:00.0", "PCI:0000:b3:00",
                           "b3:00", "b3000", "0xb3000"})
    EXPECT_EQ(pci_address(text), "0000:b3:00.0") << text;
  EXPECT_EQ(pci_address("0001:01:00.2"), "0001:01:00.2");
  EXPECT_EQ(pci_address("101000"), "0001:01:00.0");
  EXPECT_EQ(pci_address("1c000"), "0000:1c:00.0");
}

TEST(PciAddress, RefusesWhatIsNone) {
  for (const char* text : {"", ":", "::", "GPU-1234", "b3:zz.0", "b3:00.00", "123456789:b3:00.0", "10.0.0.1",
                           "b3", "12345678901234", "0000:b3:00.", "a:b:c:d"})
    EXPECT_EQ(pci_address(text), "") << text;
}

}  // namespace
}  // namespace unhang::base
