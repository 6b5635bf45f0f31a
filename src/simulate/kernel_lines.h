// SPDX-License-Identifier: Apache-2.0
//
// The kernel's log of one machine of a simulated job: noise of every day, and what happened there.
#pragma once

#include <string>

#include "simulate/course.h"

namespace unhang::simulate {

// As `dmesg -T`, `dmesg --time-format iso` or plain dmesg print it; the seed decides which.
std::string kernel_log(const Course& course, std::int32_t host);

}  // namespace unhang::simulate
