// SPDX-License-Identifier: Apache-2.0
//
// The texts of CUDA's runtime errors, as Python and the watchdog print them without their number
// ("CUDA error: unspecified launch failure").
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/log/facts.h"

namespace unhang::formats::log {

// The number of the error that a text begins with (cudaError, driver_types.h), -1 where it is not in the
// list.
std::int64_t cuda_error_number(std::string_view text);

// Adds what "CUDA error: TEXT" tells, where it stands in the message: out of memory, no usable device, a
// driver that does not fit, or an error of a kernel.
bool take_cuda_error(const Line& line, Facts& facts);

}  // namespace unhang::formats::log
