// SPDX-License-Identifier: Apache-2.0
//
// What a process that is being started is doing, by the functions on its stacks: the one table of known
// functions (model/known_frame.h), in the terms of a launch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/process_sample.h"

namespace unhang::detect {

enum class LaunchWork : std::uint8_t {
  kUnknown,
  kImport,       // modules, before anything else
  kStore,        // waits for other ranks in the store or the rendezvous
  kNcclInit,     // makes a communicator
  kNcclConnect,  // connects channels, when a communicator is used for the first time
  kCollective,   // in a collective, or waits for one
  kWeights,
  kCompile,  // torch.compile, Triton, CUDA graphs, a kernel build
  kTokenizer,
  kDataset,
  kServing,  // has nothing to do: it waits for requests
};
std::string_view words_for(LaunchWork work);  // "loading weights"

struct LaunchFrame {
  LaunchWork work = LaunchWork::kUnknown;
  std::string function;  // that tells it
};

// By the thread that speaks for the process (model/known_frame.h). kUnknown: no function on it is known.
LaunchFrame launch_frame(const model::ProcessSample& sample);

}  // namespace unhang::detect
