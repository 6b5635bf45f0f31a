// SPDX-License-Identifier: Apache-2.0
#include "model/process_sample.h"

namespace unhang::model {

std::string_view name_of(StackSource value) {
  switch (value) {
    case StackSource::kUnknown:
      return "unknown";
    case StackSource::kPySpy:
      return "py-spy";
    case StackSource::kGdb:
      return "gdb";
    case StackSource::kFaulthandler:
      return "faulthandler";
    case StackSource::kFlightRecorder:
      return "flight_recorder";
    case StackSource::kProc:
      return "proc";
  }
  return "unknown";
}

}  // namespace unhang::model
