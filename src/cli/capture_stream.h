// SPDX-License-Identifier: Apache-2.0
//
// `unhang capture --stream`: a capture whose bundle goes to standard output as it comes to be. What a capture
// of a whole job (--hosts, --pods, --slurm) runs on each member.
#pragma once

#include "base/result.h"
#include "collect/live_capture.h"

namespace unhang::cli {

// As collect::capture_live(), with a folder of its own that is removed afterwards. When the reader goes away
// the capture is ended early, as by SIGTERM; kIo then, and where not all could be sent in time.
base::Result<collect::CaptureResult> capture_to_stdout(collect::LiveCaptureRequest request);

}  // namespace unhang::cli
