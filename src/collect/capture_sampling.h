// SPDX-License-Identifier: Apache-2.0
//
// How often a source whose movement matters is asked in one capture. One answer shows a state; only two or
// more, some seconds apart, show whether anything moves.
#pragma once

#include <chrono>

namespace unhang::collect {

struct CaptureSampling {
  int samples = 3;
  std::chrono::nanoseconds gap = std::chrono::seconds(4);  // from the end of one to the next
};

// The sampling for a budget: gaps of a quarter of it, between a half and 4 seconds. From 10 seconds on the
// three answers span the five that it takes to call counts frozen.
inline CaptureSampling sampling_for(std::chrono::nanoseconds budget) {
  constexpr int kPart = 4;
  CaptureSampling sampling;
  sampling.gap = budget / kPart;
  if (sampling.gap > std::chrono::seconds(4)) sampling.gap = std::chrono::seconds(4);
  if (sampling.gap < std::chrono::milliseconds(500)) sampling.gap = std::chrono::milliseconds(500);
  return sampling;
}

}  // namespace unhang::collect
