// SPDX-License-Identifier: Apache-2.0
//
// Names of the answers in a bundle: their natural order is their order in time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace unhang::collect {

class CaptureNames {
 public:
  // "ras/000-20261129T150129.123Z-127.0.0.1_28028.json": folder, number, time, whose it is, ending. Safe to
  // call from several threads.
  std::string next(std::string_view folder, std::int64_t time_ns, std::string_view whose,
                   std::string_view ending);

 private:
  std::atomic<unsigned> x_next{0};
};

// "20261129T150129.123Z"
std::string time_stamp(std::int64_t ns_since_epoch);

}  // namespace unhang::collect
