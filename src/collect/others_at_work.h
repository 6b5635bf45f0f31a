// SPDX-License-Identifier: Apache-2.0
//
// Which sources of a capture still talk to the job. A debugger stops a process with its RAS thread and its
// engine, so it has to wait until nobody is asking them: a stop of our own must not look like a hang.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "collect/capture.h"

namespace unhang::collect {

class OthersAtWork {
 public:
  bool any() const { return x_count > 0; }

  // The same source, counted until it has ended.
  static CaptureSource counted(CaptureSource source, const std::shared_ptr<OthersAtWork>& others) {
    ++others->x_count;
    source.run = [run = std::move(source.run), others](CaptureContext& context) {
      struct Leaving {
        OthersAtWork& from;
        ~Leaving() { --from.x_count; }
      } const leaving{*others};
      return run(context);
    };
    return source;
  }

 private:
  std::atomic<int> x_count{0};
};

}  // namespace unhang::collect
