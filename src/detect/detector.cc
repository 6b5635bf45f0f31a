// SPDX-License-Identifier: Apache-2.0
#include "detect/detector.h"

#include <array>

namespace unhang::detect {
namespace {

constexpr std::array kDetectors{
    Detector{"ras_lost_process", "processes that RAS cannot reach", find_ras_lost_process},
    Detector{"call_mismatch", "members of a group that call different things at the same place",
             find_call_mismatch},
    Detector{"transfer_mismatch", "a send and its receive with different sizes", find_transfer_mismatch},
    Detector{"stopped_device", "a rank whose host goes on while its device finishes nothing",
             find_stopped_device},
    Detector{"not_entered", "ranks that the others wait for and that wait for nobody", find_not_entered},
    Detector{"wait_cycle", "ranks that wait for each other in a circle", find_wait_cycle},
    Detector{"launch_order", "ranks that launched operations of two groups in another order",
             find_launch_order},
    Detector{"ras_alive", "ranks without a dump whose processes answer RAS", find_ras_alive},
    Detector{"ras_initialization", "communicators that RAS shows as still being made, or failed",
             find_ras_initialization},
    Detector{"ras_lag", "ranks that launched fewer or other operations than their communicator",
             find_ras_lag},
    Detector{"silent_rank", "ranks that the others wait for and that left no usable evidence",
             find_silent_rank},
    Detector{"symmetric_stall", "everyone entered and nobody finished", find_symmetric_stall},
    Detector{"ras_peer_event", "processes that an event stream of RAS calls dead", find_ras_peer_event},
    Detector{"engine_stall", "an engine that has work and makes no token", find_engine_stall},
    Detector{"ras_error", "asynchronous errors that RAS shows", find_ras_error},
    Detector{"ras_teardown", "communicators that some ranks have left", find_ras_teardown},
    Detector{"straggler", "a rank that arrives last again and again", find_straggler},
    Detector{"stale_watchdog", "operations that are unfinished on paper only", find_stale_watchdog},
};

}  // namespace

std::span<const Detector> detector_catalogue() {
  return kDetectors;
}

}  // namespace unhang::detect
