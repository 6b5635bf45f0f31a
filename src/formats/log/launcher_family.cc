// SPDX-License-Identifier: Apache-2.0
//
// Those who start processes and see them end: torchrun, Slurm, MPI, Ray, Kubernetes, systemd, shells.
#include "formats/log/families.h"
#include "formats/log/fields.h"
#include "formats/log/orchestrator_messages.h"
#include "formats/log/scheduler_messages.h"
#include "formats/log/torchrun_table.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr std::string_view kTriggers[] = {
    "(first observed failure)",
    "Failures:",
    "exitcode",
    "closing signal SIG",
    "via signal SIG",
    "death signal",
    "got signal: ",
    "srun: error: ",
    "slurmstepd",
    "CANCELLED AT ",
    "noticed that process rank",
    "MPI_ABORT was invoked",
    "Process name: [",
    "BAD TERMINATION OF ONE",
    "lost communication with a remote daemon",
    "low on memory",
    "due to memory pressure",
    "memory usage threshold of",
    "has been marked dead because",
    "The actor is dead because",
    "actor died unexpectedly",
    "RayActorError",
    "ActorDiedError",
    "ActorUnavailableError",
    "WorkerCrashedError",
    "NodeDiedError",
    "A worker died or was killed",
    "Worker exit type: SYSTEM_ERROR",
    "OOMKilled",
    "Exit Code:",
    "exitCode",
    "low on resource: ",
    "Evicted",
    "TaintManagerEviction",
    "probe failed",
    "failed liveness probe",
    "failed startup probe",
    "PreemptionByScheduler",
    "Preempted by ",
    "DeadlineExceeded",
    "NodeNotReady",
    "Node is not ready",
    "by the OOM killer",
    "'oom-kill'",
    "Main process exited, code=",
    "Killing subprocess ",
    "exits with return code = ",
    "terminated with signal SIG",
    "terminated with exit code ",
    "terminated with the following error",
    "died with <Signals.",
    "returned non-zero exit status",
    "Killed",
    "Aborted",
    "Segmentation fault",
    "Bus error",
};

// "failed (exitcode: -6) local_rank: 0 (pid: 970611) of binary: …". The rank that it names is a local one.
bool take_agent(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto failed = behind(text, "failed (exitcode: ")) {
    const auto code = leading_number(*failed);
    if (!code) return false;
    facts.add(event_of(LogEventKind::kProcessExit, *code), line);
    return true;
  }
  const bool closing = has(text, "closing signal SIG") || has(text, "via signal SIG");
  if (closing) {
    const bool interrupt = has(text, "signal SIGINT");
    facts.add(event_of(LogEventKind::kProcessSignalled, interrupt                     ? 2
                                                        : has(text, "signal SIGKILL") ? 9
                                                                                      : 15),
              line);
    return true;
  }
  // The agent itself was told to end: by a person, a scheduler, or the agent of another node.
  if (has(text, "death signal, shutting down") || has(text, "death signal")) {
    const std::int64_t number = number_after(text, "Received ", 0);
    const bool interrupt = number == 2 || has(text, "SIGINT");
    facts.add(event_of(LogEventKind::kProcessSignalled, interrupt ? 2 : 15), line);
    return true;
  }
  if (has(text, "SignalException: Process ")) {
    facts.add(event_of(LogEventKind::kProcessSignalled, number_after(text, "got signal: ", 15)), line);
    return true;
  }
  return false;
}

class LauncherFamily : public Family {
 public:
  std::span<const std::string_view> triggers() const override { return kTriggers; }
  bool open() const override { return x_table.open() || x_mpi.open(); }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone || line.kernel || quotes_request(line)) return false;
    return x_table.take(line, facts) || x_mpi.take(line, facts) || take_agent(line, facts) ||
           take_slurm(line, facts) || take_ray(line, facts) || take_kubernetes(line, facts) ||
           take_process_end(line, facts);
  }

  void finish(Facts& facts) override {
    x_table.finish(facts);
    x_mpi.finish(facts);
  }

 private:
  TorchrunTable x_table;
  MpiMessages x_mpi;
};

}  // namespace

std::unique_ptr<Family> launcher_family() {
  return std::make_unique<LauncherFamily>();
}

}  // namespace unhang::formats::log
