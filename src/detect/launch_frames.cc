// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_frames.h"

#include <algorithm>
#include <array>

#include "model/known_frame.h"

namespace unhang::detect {
namespace {

using model::Activity;
using model::StackFrame;
using model::ThreadSample;

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The table of known functions says "makes a communicator or process group"; of a launch it matters which.
LaunchWork part_of_init(const StackFrame& frame) {
  // By PyTorch's and NCCL's names: what goes over the store is before NCCL, or between two of its steps.
  for (const std::string_view part : {"tore", "rendezvous", "init_process_group"}) {
    if (holds(frame.function, part) || holds(frame.file, "rendezvous")) return LaunchWork::kStore;
  }
  return holds(frame.function, "ncclTransport") ? LaunchWork::kNcclConnect : LaunchWork::kNcclInit;
}

LaunchWork work_of(Activity activity, const StackFrame& frame) {
  switch (activity) {
    case Activity::kCommunicatorInit:
      return part_of_init(frame);
    case Activity::kCollectiveWait:
      return LaunchWork::kCollective;
    case Activity::kWeightLoading:
    case Activity::kCheckpoint:
      return LaunchWork::kWeights;
    case Activity::kCompilation:
      return LaunchWork::kCompile;
    case Activity::kTokenizing:
      return LaunchWork::kTokenizer;
    case Activity::kDataLoading:
      return LaunchWork::kDataset;
    case Activity::kRequestWait:
      return LaunchWork::kServing;
    default:
      return LaunchWork::kUnknown;
  }
}

// Python's own machinery of imports stands on the stack below whatever a module does when it is imported.
bool is_import(const StackFrame& frame) {
  constexpr std::array<std::string_view, 3> kNames{"_find_and_load", "_load_unlocked", "exec_module"};
  return frame.python && std::find(kNames.begin(), kNames.end(), frame.function) != kNames.end();
}

}  // namespace

std::string_view words_for(LaunchWork work) {
  switch (work) {
    case LaunchWork::kImport:
      return "importing modules";
    case LaunchWork::kStore:
      return "waiting for other ranks in the store";
    case LaunchWork::kNcclInit:
      return "making a communicator";
    case LaunchWork::kNcclConnect:
      return "connecting channels";
    case LaunchWork::kCollective:
      return "in a collective";
    case LaunchWork::kWeights:
      return "loading weights";
    case LaunchWork::kCompile:
      return "compiling or capturing graphs";
    case LaunchWork::kTokenizer:
      return "loading the tokenizer";
    case LaunchWork::kDataset:
      return "waiting for data";
    case LaunchWork::kServing:
      return "waiting for requests";
    case LaunchWork::kUnknown:
      break;
  }
  return "";
}

LaunchFrame launch_frame(const model::ProcessSample& sample) {
  const ThreadSample* thread = model::speaking_thread(sample);
  if (thread == nullptr) return {};
  const Activity activity = model::activity_of(*thread).what;
  for (const StackFrame& frame : thread->frames) {
    if (activity == Activity::kUnknown || model::activity_of(frame) != activity) continue;
    const LaunchWork work = work_of(activity, frame);
    if (work != LaunchWork::kUnknown) return {work, frame.function};
  }
  for (const StackFrame& frame : thread->frames) {
    if (is_import(frame)) return {LaunchWork::kImport, frame.function};
  }
  return {};
}

}  // namespace unhang::detect
