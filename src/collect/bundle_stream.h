// SPDX-License-Identifier: Apache-2.0
//
// Sends a bundle through a pipe while it is being captured (`unhang capture --stream`): each file as soon as
// it is whole, and the manifest again behind what it lists, so that what has arrived is a bundle whenever the
// pipe breaks. The form is that of bundle_tar.h; of a path that comes several times the last counts, as tar
// has it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace unhang::collect {

class BundleStream {
 public:
  // From now on on a thread of its own. `fd` is where to, and is not closed; `on_broken` is called at most
  // once, from that thread, when the reader is gone or has not read until `deadline`.
  BundleStream(std::string folder, int fd, std::chrono::steady_clock::time_point deadline,
               std::function<void()> on_broken);
  // As finish().
  ~BundleStream();
  BundleStream(const BundleStream&) = delete;
  BundleStream& operator=(const BundleStream&) = delete;

  // When the capture has ended: sends the rest and the end. False: not all of it could be sent.
  bool finish();

 private:
  class Sender;
  std::shared_ptr<Sender> x_sender;
};

}  // namespace unhang::collect
