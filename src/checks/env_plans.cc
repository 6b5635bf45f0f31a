// SPDX-License-Identifier: Apache-2.0
#include "checks/env_plans.h"

#include <algorithm>

namespace unhang::checks {
namespace {

using model::Category;
using model::EnvPlan;

class Plan {
 public:
  explicit Plan(const EnvPlanOptions& options) : x_options(options), x_software(options.software) {}

  EnvPlan plan;

  const Software& software() const { return x_software; }
  bool has_recorder() const { return x_software.engine != Engine::kTrtllm && x_software.torch_since(2); }

  void set(std::string name, std::string value, std::string reason) {
    const auto at = std::find_if(plan.settings.begin(), plan.settings.end(),
                                 [&](const model::EnvSetting& setting) { return setting.name == name; });
    if (at != plan.settings.end()) {
      *at = {std::move(name), std::move(value), std::move(reason), false};
      return;
    }
    plan.settings.push_back({std::move(name), std::move(value), std::move(reason), false});
  }
  void offer(std::string name, std::string value, std::string reason) {
    plan.settings.push_back({std::move(name), std::move(value), std::move(reason), true});
  }
  void note(std::string text) { plan.notes.push_back(std::move(text)); }

  // `more` are subsystems beside those of a quiet log.
  void logs(std::initializer_list<std::string_view> more, const std::string& why) {
    std::string subsystems = "INIT,";
    if (x_software.nccl_since(23)) subsystems += "BOOTSTRAP,";
    subsystems += "ENV,NET,GRAPH";
    if (x_software.nccl_since(24)) subsystems += ",RAS";
    if (x_software.nccl_since(30)) subsystems += ",DESTROY";
    for (const std::string_view word : more) subsystems += "," + std::string(word);
    set("NCCL_DEBUG", "INFO",
        "NCCL reads it once, when it starts: it cannot be switched on in a process that hangs.");
    set("NCCL_DEBUG_SUBSYS", subsystems, why);
    set("NCCL_DEBUG_FILE", x_options.folder + "/nccl.%h.%p.log",
        "One file for each process (%h host, %p pid). NCCL empties a file of the same name and does not make "
        "folders: give each start of the job its own folder.");
    if (!x_software.nccl_since(26)) {
      note(
          "NCCL " + x_software.nccl.text() +
          " writes no times into its log: let the collector of the logs add them (NCCL 2.26 and later can).");
      return;
    }
    set("NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL", "By default only warnings have a time.");
    if (x_software.nccl_since(27)) {
      set("NCCL_DEBUG_TIMESTAMP_FORMAT", "[%F_%T.%6f]_",
          "Microseconds, to put the logs of many ranks in order. NCCL writes a blank for each _.");
    }
    set("TZ", "UTC", "NCCL prints local time without a zone.");
  }

  void recorder(int entries, const std::string& why) {
    if (!has_recorder()) {
      note(x_software.engine == Engine::kTrtllm
               ? "TensorRT-LLM makes its own communicators: PyTorch's Flight Recorder does not see them, RAS "
                 "and NCCL's log do."
               : "PyTorch " + x_software.torch.text() + " has no Flight Recorder.");
      return;
    }
    const std::string size = std::to_string(entries);
    const bool new_names = x_software.torch_since(8), newest_names = x_software.torch_since(15);
    if (new_names) {
      set("TORCH_FR_BUFFER_SIZE", size, why);
      set("TORCH_NCCL_TRACE_BUFFER_SIZE", size,
          "The same by its old name: PyTorch makes the FIFO below only where this one is set.");
    } else {
      set("TORCH_NCCL_TRACE_BUFFER_SIZE", size, why + " Off by default in this release.");
    }
    set(newest_names ? "TORCH_FR_DUMP_ON_TIMEOUT" : "TORCH_NCCL_DUMP_ON_TIMEOUT", "1",
        "Writes the ring down at a time-out, on every rank. Also makes PyTorch look at the FIFO each "
        "second.");
    set(new_names ? "TORCH_FR_DUMP_TEMP_FILE" : "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
        x_options.folder + "/fr_rank_",
        "Dumps go there, the rank is added. The default is a place that goes with the container.");
    if (x_software.torch_since(3)) {
      set("TORCH_NCCL_DEBUG_INFO_PIPE_FILE", x_options.folder + "/fr_pipe_",
          "A FIFO for each rank: a byte written into it brings a dump, and the job goes on.");
    }
    set("TORCH_NCCL_ENABLE_MONITORING", "1", "The monitor thread writes the dumps.");
    if (!x_software.torch_since(4)) {
      set("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "15000",
          "The default of this release, 2 s, is too short for stacks to be resolved.");
    }
  }

  void ras() {
    if (!x_software.nccl_since(24)) {
      note("NCCL " + x_software.nccl.text() + " has no RAS service (it came with 2.24).");
      return;
    }
    set("NCCL_RAS_ADDR", "localhost:28028",
        "RAS is on by default and answers without a password: keep it on the loopback. Two jobs of one user "
        "on one node need ports of their own.");
    if (x_software.nccl_since(27) && is_before(x_software.nccl, 2, 29, 2)) {
      note(
          "RAS of NCCL 2.27 to 2.29.1 can crash the job when it is asked for VERBOSE STATUS: unhang does not "
          "ask for it.");
    }
  }

  void engine() {
    switch (x_software.engine) {
      case Engine::kVllm:
        set("RAY_DEDUP_LOGS", "0",
            "With Ray workers only: otherwise equal lines of other ranks are left out of the log.");
        set("VLLM_RAY_EXTRA_ENV_VAR_PREFIXES_TO_COPY", "NCCL_,TORCH_",
            "With Ray workers only: releases that copy only some variables leave workers without these.");
        note(
            "vLLM gives up after VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS (300 s), PyTorch dumps after 600 s: take "
            "the evidence before, by the FIFO (unhang watch --on-stall capture).");
        note(
            "vLLM's all-reduce inside of a node is often none of PyTorch's process groups, and CUDA graphs "
            "are not recorded: the recorder shows the rest.");
        return;
      case Engine::kSglang:
        note(
            "SGLang gives up after --watchdog-timeout (300 s), PyTorch dumps after 600 s: take the evidence "
            "before, by the FIFO, or set --soft-watchdog-timeout 120 on its command line.");
        return;
      case Engine::kTrtllm:
        note("MPI passes variables to workers only when told: mpirun -x NAME, or srun --export=ALL.");
        return;
      case Engine::kNone:
        return;
    }
  }

 private:
  const EnvPlanOptions& x_options;
  const Software& x_software;
};

constexpr int kUsualRing = 2000, kLongRing = 20'000;
constexpr const char* kRingReason =
    "The Flight Recorder keeps so many calls of each rank in memory. It is stated because releases differ in "
    "their defaults.";
constexpr const char* kQuietLog =
    "What NCCL finds and decides when it starts, and no line for single calls. The defaults INIT and ENV are "
    "among it.";

Plan basis(const EnvPlanOptions& options) {
  Plan plan(options);
  plan.note("Made " + words_of(options.software) + ". " + options.folder +
            " must exist and be writable for each process of the job.");
  return plan;
}

void try_without(Plan& plan, const std::string& name, const std::string& value, const std::string& what) {
  plan.offer(name, value,
             what + " An experiment, one at a time: it shows where the fault is, and mends nothing.");
}

void for_initialization(Plan& plan) {
  plan.logs({"P2P", "SHM"}, "How each rank finds the others and which path it takes to them.");
  plan.set("TORCH_CPP_LOG_LEVEL", "INFO", "PyTorch says when it waits for the store and for other ranks.");
  plan.set("TORCH_DISTRIBUTED_DEBUG", "INFO", "PyTorch names the groups that it makes.");
  try_without(plan, "NCCL_P2P_DISABLE", "1", "Without direct access between GPUs.");
  try_without(plan, "NCCL_IB_DISABLE", "1", "With TCP in the place of RDMA.");
  try_without(plan, "NCCL_CUMEM_ENABLE", "0", "Without CUDA's virtual memory for buffers.");
}

void for_desync(Plan& plan) {
  plan.logs({}, kQuietLog);
  plan.recorder(kLongRing, "Ten times the usual history: the first call that differs may lie far back.");
  plan.set("TORCH_CPP_LOG_LEVEL", "INFO", "PyTorch says where dumps were written.");
  plan.offer("NCCL_DEBUG_SUBSYS", "INIT,ENV,COLL",
             "NCCL's own list of calls, about 200 bytes each (unhang env calibrate counts them).");
  plan.offer("TORCH_DISTRIBUTED_DEBUG", "DETAIL",
             "Each collective is checked against the other ranks before it starts: names the mismatch at "
             "once, and is slow. For a run that shows the fault again.");
}

void for_transport(Plan& plan) {
  plan.logs({"P2P", "SHM"}, "Which path each connection takes, and the network's errors.");
  plan.recorder(kUsualRing, kRingReason);
  plan.set("TORCH_CPP_LOG_LEVEL", "INFO", "PyTorch says where dumps were written.");
  if (plan.has_recorder()) {
    plan.offer("TORCH_NCCL_ENABLE_TIMING", "1",
               "Tells calls whose kernel runs from those that wait on the GPU. Can hang the watchdog: for a "
               "rehearsal.");
  }
  try_without(plan, "NCCL_P2P_DISABLE", "1", "Without direct access between GPUs.");
  try_without(plan, "NCCL_NVLS_ENABLE", "0", "Without NVLink SHARP.");
  try_without(plan, "NCCL_IB_DISABLE", "1", "With TCP in the place of RDMA.");
  try_without(plan, "NCCL_NET_GDR_LEVEL", "LOC", "Without the network reading GPU memory directly.");
}

void for_slowness(Plan& plan) {
  plan.logs({"TUNING"}, "Also which algorithm and protocol is chosen, on rank 0, a line for each call.");
  plan.recorder(kUsualRing, kRingReason);
  if (plan.software().nccl_since(28)) {
    plan.offer("NCCL_PROFILER_PLUGIN", "libnccl-profiler-inspector.so",
               "NCCL Inspector, where it is installed: the time of each collective.");
    plan.offer("NCCL_INSPECTOR_ENABLE", "1", "Belongs to the line above.");
  }
  if (plan.has_recorder()) {
    plan.offer("TORCH_NCCL_ENABLE_TIMING", "1",
               "Durations in the recorder's dumps. Can hang the watchdog: for a rehearsal.");
  }
}

void for_lost_process(Plan& plan) {
  plan.logs({}, kQuietLog);
  plan.recorder(kUsualRing, kRingReason);
  plan.set("TORCH_CPP_LOG_LEVEL", "INFO", "PyTorch says why it ends a process.");
  plan.set("PYTHONFAULTHANDLER", "1", "Python prints its stacks when a signal kills it.");
  plan.offer("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1",
             "A file with the state of the GPU at a CUDA error: large, and it takes minutes to write.");
}

void for_elsewhere(Plan& plan) {
  plan.logs({}, kQuietLog);
  plan.recorder(kUsualRing, kRingReason);
  plan.set("PYTHONFAULTHANDLER", "1", "Python prints its stacks when a signal kills it (kill -ABRT PID).");
  plan.set("TORCH_CPP_LOG_LEVEL", "INFO", "PyTorch says what it waits for.");
}

}  // namespace

EnvPlan normal_plan(const EnvPlanOptions& options) {
  Plan plan = basis(options);
  plan.plan.title = "Variables of a job in normal service.";
  plan.logs({}, kQuietLog);
  plan.recorder(kUsualRing, kRingReason);
  plan.ras();
  plan.engine();
  return std::move(plan.plan);
}

EnvPlan incident_plan(Category category, const EnvPlanOptions& options) {
  Plan plan = basis(options);
  plan.plan.title = "Variables for the restart after an incident: " + std::string(name_of(category)) + ".";
  plan.note(
      "They count from the next start on: a process that hangs does not read them any more. Take its "
      "evidence first (unhang capture).");
  switch (category) {
    case Category::kInitializationHang:
      for_initialization(plan);
      break;
    case Category::kCollectiveDesync:
      for_desync(plan);
      break;
    case Category::kTransportStall:
      for_transport(plan);
      break;
    case Category::kPerformanceDegradation:
      for_slowness(plan);
      break;
    case Category::kProcessOrDeviceUnavailable:
      for_lost_process(plan);
      break;
    case Category::kNotCommunication:
    case Category::kInconclusive:
    case Category::kHealthy:
      for_elsewhere(plan);
      break;
  }
  if (category == Category::kInitializationHang) plan.recorder(kUsualRing, kRingReason);
  plan.ras();
  plan.engine();
  // What is only an offer stands behind what is to be set.
  std::stable_partition(plan.plan.settings.begin(), plan.plan.settings.end(),
                        [](const model::EnvSetting& setting) { return !setting.is_optional; });
  return std::move(plan.plan);
}

}  // namespace unhang::checks
