// SPDX-License-Identifier: Apache-2.0
//
// What NCCL prints in one process of a simulated job with NCCL_DEBUG=INFO: how its communicators come to be,
// and what it warns of.
#pragma once

#include "simulate/course.h"
#include "simulate/log_line.h"

namespace unhang::simulate {

LogLines nccl_lines(const Course& course, std::int32_t rank);

}  // namespace unhang::simulate
