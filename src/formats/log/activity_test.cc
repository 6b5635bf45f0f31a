// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

model::LogOrigin of_rank(std::int32_t rank) {
  model::LogOrigin origin;
  origin.global_rank = rank;
  return origin;
}

using model::LogEventKind;

model::Log read(std::string_view text) {
  return read_with(activity_family(), text);
}

constexpr ToldLine kTold[] = {
    {"Saving latest checkpoint model trained for 3 complete epochs", LogEventKind::kCheckpoint, 0},
    {"saving checkpoint at iteration     500 to /ckpt", LogEventKind::kCheckpoint, 0},
    {"  successfully saved checkpoint from iteration     500 to /ckpt", LogEventKind::kCheckpoint, 1},
    {"[Torch] Saving ./ckpt/mp_rank_00_model_states.pt...", LogEventKind::kCheckpoint, 0},
    {"Model weights saved in ./out/model.safetensors", LogEventKind::kCheckpoint, 1},
    {"loading checkpoint from /ckpt at iteration 500", LogEventKind::kCheckpoint, 0},
    {"Running tokenizer on dataset:  38%|###8      | 32066/85249 [32:12<53:25, 16.59ba/s]",
     LogEventKind::kDataLoading},
    {"Map:  12%|#2        | 120/1000 [00:01<00:07, 119.53 examples/s]", LogEventKind::kDataLoading},
    {" > building train, validation, and test datasets ...", LogEventKind::kDataLoading},
    {"Loading safetensors checkpoint shards:  25% Completed | 1/4 [00:01<00:03,  1.01s/it]",
     LogEventKind::kWeightLoading, 0},
    {"Loading checkpoint shards: 100%|##########| 4/4 [00:01<00:00,  2.01it/s]", LogEventKind::kWeightLoading,
     1},
    {"Loading weights took 3.41 seconds", LogEventKind::kWeightLoading, 1},
    {"Load weight begin. avail mem=78.58 GB", LogEventKind::kWeightLoading, 0},
    {"Capturing CUDA graph shapes:  50%|#####     | 17/35 [00:07<00:07,  2.31it/s]",
     LogEventKind::kCompilation, 0},
    {"Graph capturing finished in 15 secs, took 0.31 GiB", LogEventKind::kCompilation, 1},
    {"Capture cuda graph begin. This can take up to several minutes.", LogEventKind::kCompilation, 0},
    {"torch.compile takes 67.60 s in total", LogEventKind::kCompilation, 1},
    {"{'loss': 0.4589, 'grad_norm': 1.04, 'learning_rate': 5.2e-06, 'epoch': 1.22}",
     LogEventKind::kTrainingStep, -1},
    {" iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 610.1 "
     "| lm loss: "
     "2.1E+00",
     LogEventKind::kTrainingStep, 100},
    {"ep 1 train, step 98, acc 0.007, loss 9.071, 0.797 sec/step", LogEventKind::kTrainingStep, 98},
    {" 12%|#2        | 123/1000 [02:00<14:20,  1.02it/s]", LogEventKind::kTrainingStep, 123},
    {"Epoch 0:  12%|#2        | 12/100 [00:10<01:20,  1.09it/s, v_num=5, train_loss=2.31]",
     LogEventKind::kTrainingStep, 12},
    {"step: 10  loss:  7.0123  grad_norm:  1.2", LogEventKind::kTrainingStep, 10},
    {"`Trainer.fit` stopped: `max_epochs=1` reached.", LogEventKind::kTrainingEnd},
    {"{'train_runtime': 119.8187, 'train_samples_per_second': 2.504}", LogEventKind::kTrainingEnd},
    {"Warning: WARNING: destroy_process_group() was not called before program exit, which can leak "
     "resources.",
     LogEventKind::kTrainingEnd},
    {"RuntimeError: DataLoader worker (pid 24811) is killed by signal: Killed.",
     LogEventKind::kDataWorkerKilled, 9},
    {"RuntimeError: DataLoader worker (pid 1) is killed by signal: Bus error. It is possible that",
     LogEventKind::kDataWorkerKilled, 7},
    {"RuntimeError: DataLoader worker (pid(s) 5, 6) exited unexpectedly", LogEventKind::kDataWorkerKilled, 0},
    {"DataLoader worker (pid 1) is killed by signal: Terminated.", LogEventKind::kProcessSignalled, 15},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.35 GiB. GPU 3 has a total capacity of "
     "63 GiB",
     LogEventKind::kCudaOutOfMemory, 0, -1, "torch.OutOfMemoryError"},
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 152.00 MiB",
     LogEventKind::kCudaOutOfMemory, 0, -1, "torch.cuda.OutOfMemoryError"},
    {"RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB", LogEventKind::kCudaOutOfMemory, 0, -1,
     "RuntimeError"},
    {"RuntimeError: Expected all tensors to be on the same device, but found at least two devices",
     LogEventKind::kException, 0, -1, "RuntimeError", "",
     "Expected all tensors to be on the same device, but found at least two devices"},
    {"ValueError: batch size 3 is not divisible by 2", LogEventKind::kException, 0, -1, "ValueError", "",
     "batch size 3 is not divisible by 2"},
    {"Fatal Python error: Segmentation fault", LogEventKind::kFatalSignal, 11},
    {"Fatal Python error: Aborted", LogEventKind::kFatalSignal, 6},
    {"terminate called after throwing an instance of 'c10::Error'", LogEventKind::kFatalSignal, 6, -1,
     "c10::Error"},
    {"[node1:55   :0:60] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x0)",
     LogEventKind::kFatalSignal, 11},
    {"Failed to initialize NVML: Driver/library version mismatch", LogEventKind::kDriverMismatch, 0, -1, "",
     "", "Driver/library version mismatch"},
    {"RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your "
     "GPU driver",
     LogEventKind::kDriverMismatch, 0, -1, "", "",
     "NVIDIA driver on your system is too old (found version 11040)"},
    {"RuntimeError: No CUDA GPUs are available", LogEventKind::kDeviceUnavailable, 0, -1, "", "",
     "No CUDA GPUs are available"},
    {"RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
     LogEventKind::kDeviceUnavailable, 0, -1, "", "", "Found no NVIDIA driver on your system"},
};

TEST(ActivityFamily, TellsKindsOfAllWordings) {
  EXPECT_EQ(not_told(activity_family, kTold), "");
}
TEST(ActivityFamily, HoldsOnDamagedLines) {
  EXPECT_LE(most_events_of_damaged(activity_family, kTold), 8u);
}

TEST(ActivityFamily, OrdinaryLinesAreQuiet) {
  constexpr std::string_view kLines[] = {
      "gradient checkpointing is enabled, saving memory",
      "args: save_checkpoint_interval=500",
      "packet loss 0.1 at port 3",
      "the loss of 3 nodes",
      "Error: no such file",
      "ERROR: something",
      "Note: loading takes long",
      "50%|####9     | 84748288/170498071 [00:11<00:19, 4434869.16it/s]",
      "Compute log probs:  76%|#######6  | 76/100 [00:11<00:19, 4.16it/s]",
      // read by other families
      "torch.distributed.DistBackendError: NCCL error in: x.cpp:1, unhandled system error",
      "RuntimeError: CUDA error: an illegal memory access was encountered",
      "RuntimeError: Socket Timeout",
      "torch.distributed.DistNetworkError: Connection reset by peer",
      "RuntimeError: Engine core initialization failed. See root cause above.",
      "ncclSystemError: System call (e.g. socket, malloc) or external library call failed",
      "Received request cmpl-1: prompt: 'ValueError: why', params: SamplingParams(n=1)",
  };
  EXPECT_EQ(told_of(activity_family, kLines), "");
}

constexpr std::string_view kFrames = "  File \"/x/train.py\", line 12, in main\n    loss = model(batch)\n";

std::string traceback(std::string_view end) {
  return "Traceback (most recent call last):\n" + std::string(kFrames) + std::string(end) + "\n";
}

TEST(ActivityFamily, TheLastLineOfATracebackIsTheException) {
  const auto log = read(traceback("mypackage.errors.BadBatch: too long"));
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kException);
  EXPECT_EQ(log.events[0].subject, "mypackage.errors.BadBatch");
  EXPECT_EQ(log.events[0].detail, "too long");
  EXPECT_EQ(log.events[0].line, 4u);
  const auto bare = read(traceback("AssertionError"));
  ASSERT_EQ(bare.events.size(), 1u);
  EXPECT_EQ(bare.events[0].subject, "AssertionError");
}

TEST(ActivityFamily, OfChainedExceptionsTheFirstIsTold) {
  for (const std::string_view link :
       {"During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:"}) {
    const auto log = read(traceback("KeyError: 'image'") + "\n" + std::string(link) + "\n\n" +
                          traceback("RuntimeError: Caught KeyError in DataLoader worker process 0."));
    ASSERT_EQ(log.events.size(), 1u);
    EXPECT_EQ(log.events[0].subject, "KeyError");
  }
}

TEST(ActivityFamily, APersonsInterruptIsASignal) {
  const auto log = read(traceback("KeyboardInterrupt"));
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kProcessSignalled);
  EXPECT_EQ(log.events[0].code, 2);
}

TEST(ActivityFamily, AnExitTellsItsStatus) {
  const auto log = read(traceback("SystemExit: 3"));
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].kind, LogEventKind::kProcessExit);
  EXPECT_EQ(log.events[0].code, 3);
  EXPECT_TRUE(read(traceback("SystemExit: 0")).events.empty());
}

TEST(ActivityFamily, NoiseWhileObjectsAreFreedIsQuiet) {
  EXPECT_TRUE(read("Exception ignored in: <function Pool.__del__ at 0x7f>\n" + traceback("OSError: closed"))
                  .events.empty());
}

TEST(ActivityFamily, TracebacksOfSeveralWritersInterleave) {
  model::Log log;
  Facts facts(log);
  const auto family = activity_family();
  Line line;
  const std::uint32_t zero = facts.origin(of_rank(0)), one = facts.origin(of_rank(1));
  const std::pair<std::uint32_t, std::string_view> lines[] = {{zero, "Traceback (most recent call last):"},
                                                              {one, "Traceback (most recent call last):"},
                                                              {zero, "  File \"a.py\", line 1, in f"},
                                                              {one, "  File \"a.py\", line 1, in f"},
                                                              {one, "ValueError: one"},
                                                              {zero, "KeyError: 'zero'"}};
  for (const auto& [origin, text] : lines) {
    line.origin = origin;
    line.message = text;
    family->take(line, facts);
  }
  EXPECT_FALSE(family->open());
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].detail, "one");
  EXPECT_EQ(log.events[0].rank, 1);
  EXPECT_EQ(log.events[1].detail, "'zero'");
  EXPECT_EQ(log.events[1].rank, 0);
}

TEST(ActivityFamily, StepsShareARecordThatTellsTheLast) {
  std::string text;
  for (int step = 1; step <= 1000; ++step) text += "step " + std::to_string(step) + " loss 2.5\n";
  const auto log = read(text);
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].count, 1000u);
  EXPECT_EQ(log.events[0].code, 1000);
  EXPECT_EQ(log.events[0].last_line, 1000u);
}

TEST(ActivityFamily, LongMessagesAreCut) {
  const auto log = read(traceback("ValueError: " + std::string(5000, 'x')));
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].detail.size(), 200u);
  EXPECT_EQ(log.events[0].text.size(), 200u);
}

}  // namespace
}  // namespace unhang::formats::log
