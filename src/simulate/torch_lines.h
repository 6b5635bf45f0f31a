// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch and the training program print in one process of a simulated job: steps, exceptions, and the
// watchdog of those who wait.
#pragma once

#include "simulate/course.h"
#include "simulate/log_line.h"

namespace unhang::simulate {

LogLines torch_lines(const Course& course, std::int32_t rank);

}  // namespace unhang::simulate
