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
  const int given =
      static_cast<int>(!hosts.empty()) + static_cast<int>(!pods.empty()) + static_cast<int>(!slurm.empty());
  if (given > 1)
    return base::fail(base::ErrorCode::kUsage,
                      "--hosts, --pods and --slurm exclude each other: one job, one way");
  if (!pod_namespace.empty() && pods.empty())
    return base::fail(base::ErrorCode::kUsage, "--namespace is for --pods");
  return collect::MemberSelection{hosts, pods, slurm, pod_namespace};
}

}  // namespace unhang::cli
