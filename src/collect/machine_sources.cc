// SPDX-License-Identifier: Apache-2.0
#include "collect/machine_sources.h"

#include <algorithm>

#include "collect/gpu_source.h"
#include "collect/kernel_log_source.h"
#include "collect/nccl_logs_source.h"
#include "collect/nic_source.h"
#include "collect/scheduler_source.h"
#include "collect/sockets_source.h"
#include "collect/stacks_source.h"
#include "collect/system_source.h"
#include "os/host_name.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kSlurmJob = "SLURM_JOB_ID";

std::string value_of(const LiveCaptureRequest& request, std::string_view name) {
  for (const auto& [known, value] : request.environment) {
    if (known == name) return value;
  }
  return {};
}

// Each once: those of the workers, else the one that we run in.
std::vector<std::string> slurm_jobs(const LiveCaptureRequest& request, const Workers& workers) {
  std::vector<std::string> jobs;
  const auto add = [&](const std::string& job) {
    if (!job.empty() && std::find(jobs.begin(), jobs.end(), job) == jobs.end()) jobs.push_back(job);
  };
  for (const os::Process& worker : workers.processes) {
    if (const std::string* job = worker.variable(kSlurmJob)) add(*job);
  }
  if (jobs.empty()) add(value_of(request, kSlurmJob));
  return jobs;
}

KernelLogPlace kernel_log_place(const LiveCaptureRequest& request, const Workers& workers,
                                const std::string& host, const HelperPrograms& programs) {
  KernelLogPlace place{request.dev + "/kmsg", host, programs};
  for (const os::Process& worker : workers.processes) {
    if (worker.started_ns)
      place.job_began_ns = std::min(place.job_began_ns.value_or(*worker.started_ns), *worker.started_ns);
  }
  return place;
}

}  // namespace

std::vector<CaptureSource> machine_sources(const LiveCaptureRequest& request, const Workers& workers,
                                           const CaptureSampling& sampling,
                                           const std::shared_ptr<OthersAtWork>& others,
                                           const std::shared_ptr<CaptureNames>& names) {
  const std::string host = os::host_name();
  const HelperPrograms programs{value_of(request, "PATH"), request.wake_fd};
  const SourceSelection& chosen = request.selection;
  std::vector<CaptureSource> sources;
  if (chosen.has("stacks")) {
    StackSearch search;
    search.workers = workers.processes;
    search.descendants = workers.descendants;
    search.proc = request.proc;
    search.host = host;
    search.programs = programs;
    search.native = request.native_stacks;
    search.sampling = sampling;
    sources.push_back(stacks_source("stacks", std::move(search), others, names));
  }
  if (chosen.has("kernel-log"))
    sources.push_back(
        kernel_log_source("kernel-log", kernel_log_place(request, workers, host, programs), names));
  if (chosen.has("nccl-logs"))
    sources.push_back(nccl_logs_source("nccl-logs", {workers.processes, workers.own_namespace}, names));
  if (chosen.has("gpu"))
    sources.push_back(gpu_source("gpu", {request.proc, request.dev, programs, request.nvml_words}, names));
  if (chosen.has("nic")) sources.push_back(nic_source("nic", {request.sys, host}, sampling, names));
  if (chosen.has("sockets")) {
    SocketSearch search{workers.processes, request.proc, host};
    search.processes.insert(search.processes.end(), workers.descendants.begin(), workers.descendants.end());
    std::erase_if(search.processes, [](const os::Process& process) { return process.has_ended; });
    sources.push_back(sockets_source("sockets", std::move(search), names));
  }
  if (chosen.has("system"))
    sources.push_back(system_source("system", {request.proc, request.sys, host, workers.processes}, names));
  if (chosen.has("scheduler")) {
    SchedulerPlace place;
    place.programs = programs;
    place.account = request.account;
    place.pod = host;
    place.jobs = slurm_jobs(request, workers);
    sources.push_back(scheduler_source("scheduler", std::move(place), names));
  }
  return sources;
}

}  // namespace unhang::collect
