// SPDX-License-Identifier: Apache-2.0
//
// The number by which all members of a group know its communicator: in RAS answers "hash", in logs "commId".
#pragma once

#include <cstdint>

#include "simulate/course.h"
#include "simulate/random.h"

namespace unhang::simulate {

inline std::uint64_t communicator_hash(const Course& course, std::int32_t rank, Slot slot) {
  return hash(
      {course.plan().seed, 431, static_cast<std::uint64_t>(course.job().layout().group_of(rank, slot))});
}

}  // namespace unhang::simulate
