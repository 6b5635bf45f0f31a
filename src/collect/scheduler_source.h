// SPDX-License-Identifier: Apache-2.0
//
// What Kubernetes and Slurm know of the job, as a source of a capture, by their own programs: events of the
// pod's namespace and the state of the pod, the job and its steps. Nothing is asked where we are in no pod
// and no job. Keys and tokens are left to those programs; specs of pods and command lines are not kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/helper_programs.h"

namespace unhang::collect {

struct SchedulerPlace {
  HelperPrograms programs;
  // Where a pod has its account; it has one when there is a token in it.
  std::string account = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string pod;                // its name: that of the host
  std::vector<std::string> jobs;  // of Slurm, as the workers' environment states them
};

CaptureSource scheduler_source(std::string id, SchedulerPlace place, std::shared_ptr<CaptureNames> names);

// "4711", "4711_3", "4711+1": what stands in a stranger's environment may be an option of a program instead.
bool is_slurm_job(std::string_view text);

// Without the lines that hold a command ("Command=…", "SubmitLine=…").
std::string without_commands(std::string_view text);

}  // namespace unhang::collect
