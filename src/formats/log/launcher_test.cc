// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/log/told_for_tests.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr ToldLine kTold[] = {
    {"failed (exitcode: -6) local_rank: 0 (pid: 970611) of binary: /usr/bin/python3",
     LogEventKind::kProcessExit, -6},
    {"ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 3 (pid: 9) of "
     "binary: x",
     LogEventKind::kProcessExit, 1},
    {"Sending process 2448006 closing signal SIGTERM", LogEventKind::kProcessSignalled, 15},
    {"Terminating process 96 via signal SIGTERM", LogEventKind::kProcessSignalled, 15},
    {"Received 2 death signal, shutting down workers", LogEventKind::kProcessSignalled, 2},
    {"torch.distributed.elastic.multiprocessing.api.SignalException: Process 5 got signal: 15",
     LogEventKind::kProcessSignalled, 15},
    {"  exitcode  : -9 (pid: 14750)", LogEventKind::kProcessExit, -9},
    {"rank2 (local rank: 2)exitcode: -9 (pid: 36071)error file: <N/A>", LogEventKind::kProcessExit, -9, 2},
    {"srun: error: node1: task 0: Aborted (core dumped)", LogEventKind::kProcessExit, -6, 0, "node1"},
    {"srun: error: node1: task 12: Exited with exit code 1", LogEventKind::kProcessExit, 1, 12, "node1"},
    {"srun: error: node1: task 2: Segmentation fault", LogEventKind::kProcessExit, -11, 2, "node1"},
    {"srun: error: Node failure on node7", LogEventKind::kNodeFailed, 0, -1, "node7"},
    {"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=5.0. Some of your processes may have been "
     "killed",
     LogEventKind::kOutOfMemoryKill, -1, -1, "", "", "cgroup"},
    {"slurmstepd: error: *** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***",
     LogEventKind::kOrchestratorKill, 0, -1, "", "", "time limit"},
    {"slurmstepd: error: *** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 DUE TO PREEMPTION ***",
     LogEventKind::kOrchestratorKill, 0, -1, "", "", "preemption"},
    {"slurmstepd: error: *** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 DUE TO NODE FAILURE, SEE "
     "SLURMCTLD LOG",
     LogEventKind::kNodeFailed},
    {"slurmstepd: error: *** JOB 12 ON node1 CANCELLED AT 2026-01-02T03:04:05 ***",
     LogEventKind::kOrchestratorKill, 0, -1, "", "", "cancelled by a person or a program"},
    {"slurmstepd: error: *** STEP 12.0 ON node1 CANCELLED AT 2026-01-02T03:04:05 ***",
     LogEventKind::kProcessSignalled, 15},
    {"mpirun noticed that process rank 3 with PID 0 on node x exited on signal 9 (Killed).",
     LogEventKind::kProcessExit, -9, 3, "x"},
    {"prterun noticed that process rank 7 with PID 55 on node y exited on signal 6 (Aborted).",
     LogEventKind::kProcessExit, -6, 7, "y"},
    {"MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD", LogEventKind::kProcessExit, 1, 2},
    {"ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
     LogEventKind::kOutOfMemoryKill, -1, -1, "", "", "ray"},
    {"node_manager.cc:3069: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers "
     "crashed due to "
     "other reasons at node",
     LogEventKind::kOutOfMemoryKill, -1, -1, "", "", "ray"},
    {"The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit "
     "detail: Worker "
     "unexpectedly exits with a connection error code 2. End of file. There are some potential root causes.",
     LogEventKind::kActorDied, 0, -1, "", "",
     "SYSTEM_ERROR: Worker unexpectedly exits with a connection error code 2"},
    {"ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.",
     LogEventKind::kActorDied},
    {"The node with node id: 9f and address: 10.0.0.5 and node name: n5 has been marked dead because the "
     "detector has "
     "missed too many heartbeats from it",
     LogEventKind::kNodeFailed, 0, -1, "10.0.0.5"},
    {"      Reason:       OOMKilled", LogEventKind::kOutOfMemoryKill, -1, -1, "", "", "cgroup"},
    {"      Exit Code:    137", LogEventKind::kProcessExit, -9},
    {"    exitCode: 1", LogEventKind::kProcessExit, 1},
    {"The node was low on resource: memory. Container x was using 5Gi", LogEventKind::kOrchestratorKill, 0,
     -1, "", "", "evicted: memory"},
    {"Warning  Unhealthy  2m  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 503",
     LogEventKind::kOrchestratorKill, 0, -1, "", "", "liveness probe failed"},
    {"Normal  Killing  kubelet  Container vllm failed startup probe, will be restarted",
     LogEventKind::kOrchestratorKill, 0, -1, "", "", "startup probe failed"},
    {"Warning  NodeNotReady  node-controller  Node is not ready", LogEventKind::kNodeFailed, 0, -1, "is"},
    {"train.service: Main process exited, code=killed, status=9/KILL", LogEventKind::kProcessExit, -9},
    {"train.service: Main process exited, code=exited, status=1/FAILURE", LogEventKind::kProcessExit, 1},
    {"train.service: A process of this unit has been killed by the OOM killer.",
     LogEventKind::kOutOfMemoryKill, -1, -1, "", "", "host"},
    {"[launch.py:316:sigkill_handler] Killing subprocess 1234", LogEventKind::kProcessSignalled, 15},
    {"[launch.py:325:sigkill_handler] ['/usr/bin/python3', 'x.py'] exits with return code = -9",
     LogEventKind::kProcessExit, -9},
    {"torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGSEGV",
     LogEventKind::kProcessExit, -11, 1},
    {"torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with exit code 1",
     LogEventKind::kProcessExit, 1, 0},
    {"-- Process 3 terminated with the following error:", LogEventKind::kProcessExit, 1, 3},
    {"subprocess.CalledProcessError: Command '['x']' died with <Signals.SIGKILL: 9>.",
     LogEventKind::kProcessExit, -9},
    {"subprocess.CalledProcessError: Command '['x']' returned non-zero exit status 1.",
     LogEventKind::kProcessExit, 1},
    {"Killed", LogEventKind::kProcessExit, -9},
    {"./run.sh: line 5: 12345 Killed                  python train.py", LogEventKind::kProcessExit, -9},
    {"Aborted (core dumped)", LogEventKind::kProcessExit, -6},
    {"Segmentation fault (core dumped)", LogEventKind::kFatalSignal, 11},
    {"Bus error (core dumped)", LogEventKind::kFatalSignal, 7, -1, "", "",
     "bus error: often /dev/shm is full"},
};

TEST(LauncherFamily, TellsKindsOfAllWordings) {
  EXPECT_EQ(not_told(launcher_family, kTold), "");
}
TEST(LauncherFamily, HoldsOnDamagedLines) {
  EXPECT_LE(most_events_of_damaged(launcher_family, kTold), 8u);
}

TEST(LauncherFamily, OrdinaryLinesAreQuiet) {
  constexpr std::string_view kLines[] = {
      "rank : 3",
      "Failures: 0 of 100 tests",
      "      Exit Code:    0",
      "\"OOMKilled\": false,",
      "0 Workers (tasks / actors) killed due to memory pressure (OOM), 1 Workers crashed",
      "Readiness probe failed: connection refused",
      "Out of memory: Killed process 15617 (python3) total-vm:11892kB",
      "the subprocess was Killed by nobody",
      "Segmentation fault tolerance is a feature",
      "train.service: Main process exited, code=exited, status=0/SUCCESS",
      "srun: error: Unable to create step for job 5",
      "Aborted transactions: 5",
      "Received request x: prompt: 'Sending process 1 closing signal SIGTERM'",
  };
  EXPECT_EQ(told_of(launcher_family, kLines), "");
}

TEST(LauncherFamily, ReadsTheTableOfTorchrun) {
  const auto log = read_with(launcher_family(),
                             "============================================================\n"
                             "train.py FAILED\n"
                             "------------------------------------------------------------\n"
                             "Failures:\n"
                             "[1]:\n"
                             "  time      : 2026-05-17_08:24:03\n"
                             "  host      : node2\n"
                             "  rank      : 5 (local_rank: 1)\n"
                             "  exitcode  : -6 (pid: 970612)\n"
                             "  error_file: <N/A>\n"
                             "  traceback : Signal 6 (SIGABRT) received by PID 970612\n"
                             "------------------------------------------------------------\n"
                             "Root Cause (first observed failure):\n"
                             "[0]:\n"
                             "  time      : 2026-05-17_08:24:03\n"
                             "  host      : node1\n"
                             "  rank      : 3 (local_rank: 3)\n"
                             "  exitcode  : -9 (pid: 14750)\n"
                             "  error_file: <N/A>\n"
                             "  traceback : Signal 9 (SIGKILL) received by PID 14750\n"
                             "============================================================\n");
  const auto exits = events_of(log, LogEventKind::kProcessExit);
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0]->rank, 5);
  EXPECT_EQ(exits[0]->code, -6);
  EXPECT_EQ(exits[0]->subject, "node2");
  EXPECT_EQ(exits[0]->detail, "");
  EXPECT_EQ(exits[1]->rank, 3);
  EXPECT_EQ(exits[1]->code, -9);
  EXPECT_EQ(exits[1]->subject, "node1");
  EXPECT_EQ(exits[1]->detail, "root");
  EXPECT_EQ(exits[1]->line, 15u);
}

TEST(LauncherFamily, ATableThatEndsEarlyIsTold) {
  const auto log =
      read_with(launcher_family(),
                "Root Cause (first observed failure):\n[0]:\n  host : node1\n  rank : 3 (local_rank: 3)\n"
                "  exitcode : 1 (pid: 5)\n");
  const auto exits = events_of(log, LogEventKind::kProcessExit);
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ(exits[0]->rank, 3);
  EXPECT_EQ(exits[0]->detail, "root");
}

TEST(LauncherFamily, ListsOfTasksAreTold) {
  const auto log = read_with(launcher_family(), "srun: error: node1: tasks 0-2,5: Killed\n");
  const auto exits = events_of(log, LogEventKind::kProcessExit);
  ASSERT_EQ(exits.size(), 4u);
  EXPECT_EQ(exits[3]->rank, 5);
  EXPECT_EQ(exits[3]->code, -9);
  EXPECT_EQ(exits[3]->subject, "node1");
}

TEST(LauncherFamily, SlurmsOutOfMemoryIsAKillAndAnEnd) {
  const auto log = read_with(launcher_family(), "srun: error: node6: task 0: Out Of Memory\n");
  EXPECT_EQ(events_of(log, LogEventKind::kOutOfMemoryKill).size(), 1u);
  ASSERT_EQ(events_of(log, LogEventKind::kProcessExit).size(), 1u);
  EXPECT_EQ(events_of(log, LogEventKind::kProcessExit)[0]->code, -9);
}

TEST(LauncherFamily, NoticesOfMpiTakeSeveralLines) {
  const auto exit = read_with(launcher_family(),
                              "mpirun detected that one or more processes exited with non-zero status\n"
                              "  Process name: [[12345,1],3]\n  Exit code:    1\n");
  ASSERT_EQ(exit.events.size(), 1u);
  EXPECT_EQ(exit.events[0].rank, 3);
  EXPECT_EQ(exit.events[0].code, 1);
  const auto lost =
      read_with(launcher_family(),
                "ORTE has lost communication with a remote daemon.\n\n"
                "  HNP daemon   : [[1,0],0] on node node1\n  Remote daemon: [[1,0],2] on node node3\n");
  ASSERT_EQ(lost.events.size(), 1u);
  EXPECT_EQ(lost.events[0].kind, LogEventKind::kNodeFailed);
  EXPECT_EQ(lost.events[0].subject, "node3");
  const auto bad = read_with(launcher_family(),
                             "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                             "=   PID 123 RUNNING AT node1\n=   EXIT CODE: 9\n");
  ASSERT_EQ(bad.events.size(), 1u);
  EXPECT_EQ(bad.events[0].subject, "node1");
  EXPECT_EQ(bad.events[0].code, 9);
}

}  // namespace
}  // namespace unhang::formats::log
