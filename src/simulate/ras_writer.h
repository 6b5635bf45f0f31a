// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's RAS service answers about a simulated job: one JSON document, with the counts that each rank
// has launched by then. Who is gone or frozen is missing; who has been gone for a minute is considered dead.
#pragma once

#include <cstdint>
#include <string>

#include "simulate/course.h"

namespace unhang::simulate {

// Asked at this (true) time. Empty where nobody answers: all are gone, or no communicator stands yet.
std::string write_ras_answer(const Course& course, std::int64_t at);

}  // namespace unhang::simulate
