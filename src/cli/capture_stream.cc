// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_stream.h"

#include <csignal>

#include <unistd.h>

#include "collect/bundle_stream.h"
#include "os/temporary_folder.h"

namespace unhang::cli {
namespace {

// A capture may be so much later than its budget; who reads has calculated with it.
constexpr std::chrono::milliseconds kSpare{900};

}  // namespace

base::Result<collect::CaptureResult> capture_to_stdout(collect::LiveCaptureRequest request) {
  const auto deadline = std::chrono::steady_clock::now() + request.budget + kSpare;
  const auto folder = os::TemporaryFolder::make();
  if (!folder) return base::fail(folder.error());
  request.folder = folder->path() + "/bundle";
  // Everything here ends early by a signal: one way for all of it. (A second one would be the hard way.)
  collect::BundleStream stream(request.folder, STDOUT_FILENO, deadline, [stop = request.stop] {
    if (!stop->requested()) ::kill(::getpid(), SIGTERM);
  });
  auto result = collect::capture_live(request);
  if (!stream.finish() && result)
    return base::fail(base::ErrorCode::kIo, "the bundle could not be sent whole: its reader is gone or slow");
  return result;
}

}  // namespace unhang::cli
