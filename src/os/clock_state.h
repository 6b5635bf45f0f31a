// SPDX-License-Identifier: Apache-2.0
//
// Whether the clock of this machine is kept by somebody (NTP, PTP), as the kernel tells: logs of several
// machines compare only where it is.
#pragma once

#include <cstdint>

namespace unhang::os {

struct ClockState {
  bool known = false;
  bool synchronised = false;
  std::int64_t offset_ns = 0;           // as the kernel corrects it now
  std::int64_t estimated_error_us = 0;  // as whoever keeps it estimates
  std::int64_t maximum_error_us = 0;    // grows by 500 each second that nobody corrects it
};

ClockState clock_state();

}  // namespace unhang::os
