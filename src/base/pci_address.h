// SPDX-License-Identifier: Apache-2.0
//
// PCI addresses as kernels, drivers, NVML and NCCL write them, brought to one spelling, so that the GPU of a
// kernel line is the GPU of a communicator.
#pragma once

#include <string>
#include <string_view>

namespace unhang::base {

// "0000:b3:00.0" of "00000000:B3:00.0", "0000:b3:00", "b3:00.0", "PCI:0000:b3:00", and of NCCL's busId, one
// hexadecimal number without colons: domain, 8 bits of bus, 8 of device, 4 of function ("b3000" is 0xb3 <<
// 12, NCCL's utils.cc). Empty: it is none of these. A function that is not stated is 0.
std::string pci_address(std::string_view text);

}  // namespace unhang::base
