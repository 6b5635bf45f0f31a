// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/sample_list.h"

#include <algorithm>

namespace unhang::formats::stacks {

SampleList::~SampleList() {
  if (x_left_out == 0) return;
  x_evidence.problems.push_back(
      {model::Severity::kDataLoss,
       "too_many",
       std::to_string(x_left_out) +
           " processes, threads or frames are too many for one file and were left out",
       {},
       0});
}

std::optional<std::size_t> SampleList::begin_process(std::int64_t pid) {
  if (processes() >= kMaxProcesses) {
    ++x_left_out;
    return std::nullopt;
  }
  x_samples.emplace_back();
  x_samples.back().pid = pid;
  return processes() - 1;
}

std::optional<std::size_t> SampleList::begin_thread(std::optional<std::size_t> process,
                                                    model::ThreadSample thread) {
  if (!process || x_threads >= kMaxThreads) {
    ++x_left_out;
    return std::nullopt;
  }
  ++x_threads;
  thread.name.resize(std::min(thread.name.size(), kMaxName));
  auto& threads = this->process(*process).threads;
  threads.push_back(std::move(thread));
  return threads.size() - 1;
}

void SampleList::add_frame(std::optional<std::size_t> process, std::optional<std::size_t> thread,
                           model::StackFrame frame) {
  if (!process || !thread) return;
  auto& frames = this->process(*process).threads[*thread].frames;
  if (frames.size() >= kMaxFramesOfThread || x_frames >= kMaxFrames) {
    ++x_left_out;
    return;
  }
  ++x_frames;
  frame.function.resize(std::min(frame.function.size(), kMaxName));
  frame.file.resize(std::min(frame.file.size(), kMaxName));
  frames.push_back(std::move(frame));
}

}  // namespace unhang::formats::stacks
