// SPDX-License-Identifier: Apache-2.0
//
// What functions on a stack mean: the one table from names in PyTorch, NCCL, CUDA, engines and the kernel to
// what the process is doing. A name alone proves little, so common ones count only in their own file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/process_sample.h"

namespace unhang::model {

enum class Activity : std::uint8_t {
  kUnknown,
  // Work of the host, for which peers may wait.
  kDataLoading,
  kCheckpoint,
  kWeightLoading,
  kCompilation,
  kTokenizing,
  // Communication.
  kCommunicatorInit,
  kCommunicatorEnd,
  kCollectiveWait,
  // Nothing to do.
  kRequestWait,
  kWorkerWait,  // an engine's core, whose workers have not answered
  // Threads and processes beside the rank's own work.
  kNcclThread,
  kWatchdog,
  kHelperProcess,  // worker of a data loader or a compiler
  // How it waits; says why only together with one of the above.
  kGpuWait,
  kInterpreterLock,
  kLock,
  kSleep,
  kFileAccess,
  kNetworkFile,
  kGpuDriver,
};
std::string_view name_of(Activity value);   // "data_loading": stable, part of unhang.stacks/1
std::string_view words_of(Activity value);  // "loading weights": what it is doing

// What one frame says by itself.
Activity activity_of(const StackFrame& frame);
// What the kernel's function says in which a thread waits ("rpc_wait_bit_killable").
Activity activity_of_kernel(std::string_view function);

// Of two on one stack: whether the outer says more than the inner.
bool overrides(Activity outer, Activity inner);

struct ThreadActivity {
  Activity what = Activity::kUnknown;
  Activity how = Activity::kUnknown;  // one of the last kinds: kGpuWait and below
  bool operator==(const ThreadActivity&) const = default;
};
// The innermost frame that says something decides; what the kernel tells comes beside it.
ThreadActivity activity_of(const ThreadSample& thread);
// Of the thread that speaks for the process: NCCL makes a communicator in a thread of its own, for which the
// caller waits.
ThreadActivity activity_of(const ProcessSample& process, const ThreadSample& speaking);
std::string words_of(const ThreadActivity& activity);  // "saving or loading a checkpoint, and waiting for a
                                                       // network file system"

bool is_host_work(Activity value);
bool is_communication(Activity value);

// The thread that speaks for its process: the main one, unless another carries the work. Null: there are no
// threads.
const ThreadSample* speaking_thread(const ProcessSample& process);

}  // namespace unhang::model
