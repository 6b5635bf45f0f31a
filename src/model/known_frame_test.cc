// SPDX-License-Identifier: Apache-2.0
#include "model/known_frame.h"

#include <gtest/gtest.h>

#include "model/known_frame_table.h"
#include "model/mixed_stack.h"

namespace unhang::model {
namespace {

using Frames = std::vector<StackFrame>;

StackFrame python(std::string function, std::string file) {
  return {std::move(function), std::move(file), 1, true};
}
StackFrame native(std::string function, std::string file = "libx.so") {
  return {std::move(function), std::move(file), 0, false};
}
ThreadSample thread(std::vector<StackFrame> frames) {
  ThreadSample out;
  out.frames = std::move(frames);
  return out;
}

TEST(KnownFrame, PatternsMatchWholeNames) {
  EXPECT_TRUE(matches_name("barrier", "barrier"));
  EXPECT_FALSE(matches_name("barrier", "barriers"));
  EXPECT_FALSE(matches_name("barrier", "my_barrier"));
  EXPECT_TRUE(matches_name("ncclComm*", "ncclCommInitRank"));
  EXPECT_FALSE(matches_name("ncclComm*", "pncclCommInitRank"));
  EXPECT_TRUE(matches_name("*::barrier", "c10d::G::barrier"));
  EXPECT_FALSE(matches_name("*::barrier", "c10d::G::barriers"));
  EXPECT_TRUE(matches_name("c10d::*::barrier", "c10d::G::barrier"));
  EXPECT_TRUE(matches_name("*futex*wait*", "__futex_abstimed_wait_common64"));
  EXPECT_TRUE(matches_name("*", ""));
  EXPECT_FALSE(matches_name("", "x"));
}

TEST(KnownFrame, TheInnermostFrameThatSaysSomethingDecides) {
  const ThreadActivity loading = activity_of(thread(
      {python("wait", "/usr/lib/python3.12/threading.py"), python("get", "/usr/lib/python3.12/queue.py"),
       python("_try_get_data", "torch/utils/data/dataloader.py"), python("train", "train.py")}));
  EXPECT_EQ(loading.what, Activity::kDataLoading);
  EXPECT_EQ(words_of(loading), "waiting for its data loader");
  // A checkpoint that waits for the others: the wait is what matters.
  EXPECT_EQ(activity_of(thread({python("barrier", "torch/distributed/distributed_c10d.py"),
                                python("save_checkpoint", "megatron/training/checkpointing.py")}))
                .what,
            Activity::kCollectiveWait);
}

TEST(KnownFrame, AGpuWaitSaysHowNotWhy) {
  const ThreadActivity saving =
      activity_of(thread({native("cudaMemcpyAsync"), python("save", "torch/serialization.py")}));
  EXPECT_EQ(saving.what, Activity::kCheckpoint);
  EXPECT_EQ(words_of(saving), "saving or loading a checkpoint, and waiting for its GPU");
  const ThreadActivity bare =
      activity_of(thread({python("synchronize", "torch/cuda/__init__.py"), python("step", "train.py")}));
  EXPECT_EQ(bare.what, Activity::kUnknown);
  EXPECT_EQ(words_of(bare), "waiting for its GPU");
}

TEST(KnownFrame, WhoWaitsForRequestsInABroadcastIsIdle) {
  EXPECT_EQ(activity_of(thread({python("broadcast", "torch/distributed/distributed_c10d.py"),
                                python("broadcast_pyobj", "sglang/srt/utils.py"),
                                python("recv_requests", "sglang/srt/managers/scheduler.py")}))
                .what,
            Activity::kRequestWait);
}

// pytorch/pytorch#52916: the caller waits in ncclGroupEnd, NCCL works in a thread of its own.
TEST(KnownFrame, MakingACommunicatorGoesBeforeTheWaitInsideIt) {
  EXPECT_EQ(activity_of(thread({native("ncclGroupEndInternal", "libnccl.so.2"),
                                native("ncclCommInitRankConfig", "libnccl.so.2"),
                                python("all_reduce", "torch/distributed/distributed_c10d.py")}))
                .what,
            Activity::kCommunicatorInit);
  ProcessSample process;
  process.threads.push_back(thread({native("__libc_accept"), native("bootstrapInit", "bootstrap.cc"),
                                    native("initTransportsRank", "init.cc")}));
  process.threads.push_back(thread({native("pthread_join"), native("ncclGroupEnd", "libnccl.so.2")}));
  process.threads.back().is_main = true;
  const ThreadSample* main = speaking_thread(process);
  EXPECT_EQ(main, &process.threads[1]);
  EXPECT_EQ(activity_of(*main).what, Activity::kCollectiveWait);
  EXPECT_EQ(activity_of(process, *main).what, Activity::kCommunicatorInit);
}

// vllm-project/vllm#50835: both sides of a queue look alike but for who asks.
TEST(KnownFrame, AnEngineThatWaitsForItsWorkersIsNotIdle) {
  const Frames queue{python("poll", "zmq/sugar/poll.py"),
                     python("dequeue", "vllm/distributed/device_communicators/shm_broadcast.py")};
  Frames core = queue;
  core.push_back(python("get_response", "vllm/v1/executor/multiproc_executor.py"));
  Frames worker = queue;
  worker.push_back(python("worker_busy_loop", "vllm/v1/executor/multiproc_executor.py"));
  EXPECT_EQ(activity_of(thread(core)).what, Activity::kWorkerWait);
  EXPECT_EQ(activity_of(thread(worker)).what, Activity::kRequestWait);
}

TEST(KnownFrame, NamesCountOnlyInTheirOwnFiles) {
  EXPECT_EQ(activity_of(python("wait", "train.py")), Activity::kUnknown);
  EXPECT_EQ(activity_of(python("poll", "subprocess.py")), Activity::kUnknown);
  EXPECT_EQ(activity_of(python("ncclCommInitRank", "my_mock.py")), Activity::kUnknown);
  EXPECT_EQ(activity_of(native("load_model")), Activity::kUnknown);
  EXPECT_EQ(activity_of(native("ncclCommInitRankConfig", "libnccl.so.2")), Activity::kCommunicatorInit);
}

TEST(KnownFrame, TheKernelTellsOfFilesAndDrivers) {
  ThreadSample stuck = thread({python("load", "torch/serialization.py")});
  stuck.state = 'D';
  stuck.wait_channel = "rpc_wait_bit_killable";
  EXPECT_EQ(words_of(activity_of(stuck)),
            "saving or loading a checkpoint, and waiting for a network file system");
  ThreadSample driver;
  driver.kernel_frames = {"rwsem_down_write_slowpath", "os_acquire_rwlock_write", "nvidia_ioctl"};
  EXPECT_EQ(activity_of(driver).how, Activity::kGpuDriver);
  ThreadSample sleeper;
  sleeper.wait_channel = "futex_wait_queue";
  EXPECT_EQ(activity_of(sleeper), (ThreadActivity{Activity::kUnknown, Activity::kLock}));
  EXPECT_EQ(activity_of(ThreadSample{}), ThreadActivity{});
}

TEST(KnownFrame, TheMainThreadSpeaksUnlessAnotherWorks) {
  ProcessSample process;
  EXPECT_EQ(speaking_thread(process), nullptr);
  process.threads.push_back(thread({native("poll"), native("ncclProxyService")}));
  process.threads.push_back(thread({python("main", "train.py")}));
  process.threads.back().is_main = true;
  EXPECT_EQ(speaking_thread(process), &process.threads[1]);
  process.threads[1].frames = {python("poll", "zmq/sugar/poll.py")};
  process.threads.push_back(thread({native("ncclGroupEnd"), python("forward", "model.py")}));
  EXPECT_EQ(speaking_thread(process), &process.threads[2]);
  process.threads.pop_back();
  EXPECT_EQ(speaking_thread(process), &process.threads[1]);
}

TEST(KnownFrame, PythonTakesThePlaceOfTheInterpreter) {
  const std::vector<StackFrame> mixed =
      mixed_frames({native("ncclGroupEnd"), native("_PyEval_EvalFrameDefault"), native("main")},
                   {python("step", "train.py"), python("<module>", "train.py")});
  ASSERT_EQ(mixed.size(), 3u);
  EXPECT_EQ(mixed[0].function, "ncclGroupEnd");
  EXPECT_EQ(mixed[2].function, "<module>");
}

}  // namespace
}  // namespace unhang::model
