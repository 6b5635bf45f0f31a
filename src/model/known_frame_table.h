// SPDX-License-Identifier: Apache-2.0
//
// The rows behind known_frame.h.
#pragma once

#include <span>
#include <string_view>

#include "model/known_frame.h"

namespace unhang::model {

struct KnownFrame {
  Activity activity = Activity::kUnknown;
  std::string_view function;   // the whole name, or with "*" at an end where more may stand; empty: any
  std::string_view file = {};  // a part of the path; empty: any
};

// The first row that fits a frame counts.
std::span<const KnownFrame> known_python_frames();
std::span<const KnownFrame> known_native_frames();
std::span<const KnownFrame> known_kernel_functions();

// "ncclComm*" against "ncclCommInitRank", "*::barrier" against "c10d::ProcessGroup::barrier".
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace unhang::model
