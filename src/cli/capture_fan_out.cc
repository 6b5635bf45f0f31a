// SPDX-License-Identifier: Apache-2.0
#include "cli/capture_fan_out.h"

namespace unhang::cli {

std::vector<Flag> FanOutFlags::flags() {
  return {{.name = "--hosts",
           .value = "LIST",
           .help = "capture on these machines by ssh: 'a,b', 'gpu[01-16]', @FILE",
           .target = &hosts,
           .group = "A whole job"},
          {.name = "--pods",
           .value = "SELECTOR",
           .help = "capture in the pods with these labels, by kubectl exec",
           .target = &pods,
           .group = "A whole job"},
          {.name = "--namespace",
           .short_name = "-n",
           .value = "NS",
           .help = "of the pods; default: that of kubectl",
           .target = &pod_namespace,
           .group = "A whole job"},
          {.name = "--slurm",
           .value = "JOBID",
           .help = "capture on the nodes of this job, by srun",
           .target = &slurm,
           .group = "A whole job"}};
}

base::Result<collect::MemberSelection> FanOutFlags::selection() const {
  const int given = static_cast<int>(hosts.has_value()) + static_cast<int>(pods.has_value()) +
                    static_cast<int>(slurm.has_value());
  if (given > 1)
    return base::fail(base::ErrorCode::kUsage,
                      "--hosts, --pods and --slurm exclude each other: one job, one way");
  if (pod_namespace && !pods) return base::fail(base::ErrorCode::kUsage, "--namespace is for --pods");
  for (const auto& [flag, value] : {std::pair("--hosts", &hosts), std::pair("--pods", &pods),
                                    std::pair("--namespace", &pod_namespace), std::pair("--slurm", &slurm)}) {
    if (*value && (*value)->empty())
      return base::fail(base::ErrorCode::kUsage, std::string(flag) + ": its value is empty: capture where?");
  }
  return collect::MemberSelection{hosts.value_or(""), pods.value_or(""), slurm.value_or(""),
                                  pod_namespace.value_or("")};
}

}  // namespace unhang::cli
