// SPDX-License-Identifier: Apache-2.0
#include "os/clock_state.h"

#include <sys/timex.h>

namespace unhang::os {

ClockState clock_state() {
  timex state{};
  const int kept = ::adjtimex(&state);  // modes 0: it only asks
  if (kept < 0) return {};
  ClockState out;
  out.known = true;
  out.synchronised = kept != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  out.offset_ns = (state.status & STA_NANO) != 0 ? state.offset : state.offset * 1000;
  out.estimated_error_us = state.esterror;
  out.maximum_error_us = state.maxerror;
  return out;
}

}  // namespace unhang::os
