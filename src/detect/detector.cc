// SPDX-License-Identifier: Apache-2.0
#include "detect/detector.h"

#include <array>

namespace unhang::detect {
namespace {

constexpr std::array kDetectors{
    Detector{"call_mismatch", "members of a group that call different things at the same place",
             find_call_mismatch},
    Detector{"transfer_mismatch", "a send and its receive with different sizes", find_transfer_mismatch},
    Detector{"stopped_device", "a rank whose host goes on while its device finishes nothing",
             find_stopped_device},
    Detector{"not_entered", "ranks that the others wait for and that wait for nobody", find_not_entered},
    Detector{"wait_cycle", "ranks that wait for each other in a circle", find_wait_cycle},
    Detector{"launch_order", "ranks that launched operations of two groups in another order",
             find_launch_order},
    Detector{"silent_rank", "ranks that the others wait for and that left no usable evidence",
             find_silent_rank},
    Detector{"symmetric_stall", "everyone entered and nobody finished", find_symmetric_stall},
    Detector{"straggler", "a rank that arrives last again and again", find_straggler},
    Detector{"stale_watchdog", "operations that are unfinished on paper only", find_stale_watchdog},
};

}  // namespace

std::span<const Detector> detector_catalogue() {
  return kDetectors;
}

}  // namespace unhang::detect
