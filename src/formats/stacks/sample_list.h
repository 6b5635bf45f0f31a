// SPDX-License-Identifier: Apache-2.0
//
// The processes, threads and frames that a file shows, while it is being read: the one place that bounds
// them. What is beyond the bounds is left out and becomes a problem of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/evidence.h"
#include "model/process_sample.h"

namespace unhang::formats::stacks {

// Of one file; far above any real one.
inline constexpr std::size_t kMaxProcesses = 65'536;
inline constexpr std::size_t kMaxThreads = 1 << 20;
inline constexpr std::size_t kMaxFrames = 4 << 20;
inline constexpr std::size_t kMaxFramesOfThread = 1'024;
inline constexpr std::size_t kMaxName = 1'024;  // bytes of a function, file or thread; the rest is cut off

class SampleList {
 public:
  explicit SampleList(Evidence& evidence)
      : x_samples(evidence.process_samples), x_evidence(evidence), x_first(x_samples.size()) {}
  SampleList(const SampleList&) = delete;
  SampleList& operator=(const SampleList&) = delete;
  ~SampleList();  // reports what was left out

  // Each gives the number to name it by; nullopt: there are too many. A nullopt for an outer one gives
  // nullopt for what is in it.
  std::optional<std::size_t> begin_process(std::int64_t pid);
  std::optional<std::size_t> begin_thread(std::optional<std::size_t> process, model::ThreadSample thread);
  void add_frame(std::optional<std::size_t> process, std::optional<std::size_t> thread,
                 model::StackFrame frame);

  model::ProcessSample& process(std::size_t number) { return x_samples[x_first + number]; }
  std::size_t processes() const { return x_samples.size() - x_first; }

 private:
  std::vector<model::ProcessSample>& x_samples;
  Evidence& x_evidence;
  std::size_t x_first;
  std::size_t x_threads = 0;
  std::size_t x_frames = 0;
  std::uint64_t x_left_out = 0;
};

}  // namespace unhang::formats::stacks
