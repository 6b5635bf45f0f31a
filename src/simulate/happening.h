// SPDX-License-Identifier: Apache-2.0
//
// What happens in an incident besides calls that come or do not come: it shows in logs, in the kernel's log
// and in what RAS can reach.
#pragma once

#include <cstdint>

namespace unhang::simulate {

struct Happening {
  enum class Kind : std::uint8_t {
    kXid,            // the GPU of the rank fails; code: the Xid
    kOutOfMemory,    // the kernel kills the process
    kException,      // the program of the rank ends with an exception
    kLinkDown,       // the port beside the rank's GPU goes down
    kHostFrozen,     // the machine of the rank answers nobody any more
    kRetryExceeded,  // the rank gives up on transfers with the peer
    kDataLoader,     // the rank waits for its next batch for ever
    kVanished,       // the process is gone, and nothing tells why
    kClosed,         // torchrun ends the rank, because another one of its machine has failed
    kNeverStarts,    // the rank never begins to make the first communicator
  };
  Kind kind = Kind::kXid;
  std::int32_t rank = 0;
  std::int32_t peer = -1;
  std::int32_t code = 0;
};

}  // namespace unhang::simulate
