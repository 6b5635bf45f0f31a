// SPDX-License-Identifier: Apache-2.0
#include "model/known_frame.h"

#include <algorithm>
#include <array>

#include "model/known_frame_table.h"

namespace unhang::model {
namespace {

struct Words {
  Activity activity;
  std::string_view name, words;
};

constexpr std::array kWords{
    Words{Activity::kUnknown, "unknown", "in code that unhang does not know"},
    Words{Activity::kDataLoading, "data_loading", "waiting for its data loader"},
    Words{Activity::kCheckpoint, "checkpoint", "saving or loading a checkpoint"},
    Words{Activity::kWeightLoading, "weight_loading", "loading weights"},
    Words{Activity::kCompilation, "compilation", "compiling or capturing graphs"},
    Words{Activity::kTokenizing, "tokenizing", "tokenising text"},
    Words{Activity::kCommunicatorInit, "communicator_init", "making a communicator or process group"},
    Words{Activity::kCommunicatorEnd, "communicator_end", "taking a communicator down"},
    Words{Activity::kCollectiveWait, "collective_wait", "waiting in a collective"},
    Words{Activity::kRequestWait, "request_wait", "waiting for requests"},
    Words{Activity::kWorkerWait, "worker_wait", "waiting for its workers"},
    Words{Activity::kNcclThread, "nccl_thread", "a thread of NCCL"},
    Words{Activity::kWatchdog, "watchdog", "a watchdog"},
    Words{Activity::kHelperProcess, "helper_process", "a worker of a data loader or compiler"},
    Words{Activity::kGpuWait, "gpu_wait", "waiting for its GPU"},
    Words{Activity::kInterpreterLock, "interpreter_lock", "waiting for the interpreter's lock"},
    Words{Activity::kLock, "lock", "waiting for a lock or another thread"},
    Words{Activity::kSleep, "sleep", "sleeping"},
    Words{Activity::kFileAccess, "file_access", "waiting for a file"},
    Words{Activity::kNetworkFile, "network_file", "waiting for a network file system"},
    Words{Activity::kGpuDriver, "gpu_driver", "waiting in the GPU driver"},
};

const Words& entry_of(Activity value) {
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Words& words) { return words.activity == value; });
  return found == kWords.end() ? kWords.front() : *found;
}

bool says_how(Activity value) {
  return value >= Activity::kGpuWait;
}

// What the kernel shows, which no stack of a process does.
Activity kernel_activity(const ThreadSample& thread) {
  Activity found = activity_of_kernel(thread.wait_channel);
  for (const std::string& function : thread.kernel_frames) {
    const Activity activity = activity_of_kernel(function);
    const bool deeper = activity == Activity::kNetworkFile || activity == Activity::kGpuDriver;
    if (activity != Activity::kUnknown && (found == Activity::kUnknown || deeper)) found = activity;
  }
  return found;
}

Activity activity_of_name(const ThreadSample& thread) {
  for (const std::string_view name : {"pt_nccl_watchdg", "pt_nccl_heartbt"}) {
    if (thread.name == name) return Activity::kWatchdog;
  }
  return thread.name.starts_with("NCCL ") ? Activity::kNcclThread : Activity::kUnknown;
}

// An event loop of Python's asyncio in which no task runs.
bool is_idle_event_loop(const std::vector<StackFrame>& frames) {
  const auto inner =
      std::find_if(frames.begin(), frames.end(), [](const auto& frame) { return frame.python; });
  return inner != frames.end() && inner->function == "select" && inner + 1 != frames.end() &&
         (inner + 1)->function == "_run_once";
}

}  // namespace

bool overrides(Activity outer, Activity inner) {
  switch (outer) {
    case Activity::kHelperProcess:
      return true;
    case Activity::kRequestWait:  // engines hand requests to their ranks by a broadcast
      return is_communication(inner);
    case Activity::kWorkerWait:  // the core waits by the same queues as its workers
      return inner == Activity::kRequestWait;
    case Activity::kCommunicatorInit:  // ends in ncclGroupEnd, or in a barrier
    case Activity::kCommunicatorEnd:
      return inner == Activity::kCollectiveWait;
    default:
      return false;
  }
}

std::string_view name_of(Activity value) {
  return entry_of(value).name;
}

std::string_view words_of(Activity value) {
  return entry_of(value).words;
}

bool is_host_work(Activity value) {
  return value >= Activity::kDataLoading && value <= Activity::kTokenizing;
}

bool is_communication(Activity value) {
  return value >= Activity::kCommunicatorInit && value <= Activity::kCollectiveWait;
}

ThreadActivity activity_of(const ThreadSample& thread) {
  ThreadActivity out;
  out.what = activity_of_name(thread);
  for (const StackFrame& frame : thread.frames) {
    const Activity activity = activity_of(frame);
    if (activity == Activity::kUnknown) continue;
    if (says_how(activity)) {
      if (out.how == Activity::kUnknown) out.how = activity;
      continue;
    }
    if (overrides(activity, out.what)) out.what = activity;
    if (out.what == Activity::kUnknown) out.what = activity;
  }
  if (out.what == Activity::kUnknown && is_idle_event_loop(thread.frames)) out.what = Activity::kRequestWait;
  const Activity kernel = kernel_activity(thread);
  const bool vague =
      out.how == Activity::kUnknown || out.how == Activity::kLock || out.how == Activity::kSleep;
  if (kernel != Activity::kUnknown && vague) out.how = kernel;
  return out;
}

ThreadActivity activity_of(const ProcessSample& process, const ThreadSample& speaking) {
  ThreadActivity out = activity_of(speaking);
  if (out.what != Activity::kCollectiveWait) return out;
  for (const ThreadSample& thread : process.threads) {
    const Activity other = activity_of(thread).what;
    if (&thread != &speaking && other == Activity::kCommunicatorInit) out.what = other;
  }
  return out;
}

std::string words_of(const ThreadActivity& activity) {
  if (activity.what == Activity::kUnknown) return std::string(words_of(activity.how));
  std::string out(words_of(activity.what));
  // How a thread waits that has nothing to do, or waits for the others, is of no interest.
  const bool tells = activity.how == Activity::kGpuWait || activity.how >= Activity::kFileAccess ||
                     activity.how == Activity::kInterpreterLock;
  if (tells) out += ", and " + std::string(words_of(activity.how));
  return out;
}

const ThreadSample* speaking_thread(const ProcessSample& process) {
  const ThreadSample* best = nullptr;
  int best_grade = -1;
  for (const ThreadSample& thread : process.threads) {
    const ThreadActivity activity = activity_of(thread);
    const bool beside = activity.what == Activity::kNcclThread || activity.what == Activity::kWatchdog;
    const bool works = is_host_work(activity.what) || is_communication(activity.what);
    // Engines run the model in a thread beside a main one that only waits for it.
    int grade = 0;
    if (!beside) grade = 1 + (thread.frames.empty() ? 0 : 1) + (works ? 2 : 0) + (thread.is_main ? 3 : 0);
    const bool main_waits = thread.is_main && activity.what == Activity::kRequestWait;
    if (main_waits) grade = 3;
    if (grade > best_grade) {
      best = &thread;
      best_grade = grade;
    }
  }
  return best;
}

}  // namespace unhang::model
