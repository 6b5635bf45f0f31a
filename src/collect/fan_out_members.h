// SPDX-License-Identifier: Apache-2.0
//
// Who is asked by a capture of a whole job: machines by name, pods by a selector, the nodes of a Slurm job.
// Names come from people, files, kubectl and squeue, and become words of command lines: a name that could be
// taken for anything else is refused.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/helper_programs.h"

namespace unhang::collect {

enum class MemberKind { kHost, kPod, kSlurmNode };

// One of the three is given.
struct MemberSelection {
  std::string hosts;  // "a,node[01-04]", "@FILE"
  std::string pods;   // a label selector
  std::string slurm;  // a job
  std::string pod_namespace;

  bool any() const { return !hosts.empty() || !pods.empty() || !slurm.empty(); }
};

struct Member {
  MemberKind kind = MemberKind::kHost;
  std::string name;       // as ssh, kubectl or srun takes it
  std::string container;  // of a pod
  std::string scope;      // namespace of a pod, number of a job; may be empty for a pod
  std::string trouble;    // why it cannot be asked ("the pod is Pending"); empty: it can
};

inline constexpr std::size_t kMaxMembers = 4096;

// Letters, digits and . _ @ : -, at most 253, not beginning with '-'.
bool is_member_name(std::string_view name);

// Each name once, in the order of the list: "a,b", Slurm's "gpu[01-04,7]-x" (widths are kept), and "@FILE"
// with a list in each line ('#' and what stands behind the first word of a line are passed over: MPI host
// files). kUsage for what is no list or longer than kMaxMembers.
base::Result<std::vector<std::string>> parse_host_list(std::string_view list);

// The pods of `kubectl get pods -o json`, by name. Of several containers the first that asks for GPUs, else
// the one that the pod calls its default, else the first.
base::Result<std::vector<Member>> pods_of_json(std::string_view json);

// kUsage where the selection is wrong or nobody is meant by it; kUnavailable where kubectl or squeue do not
// say. `until` is when there should be an answer.
base::Result<std::vector<Member>> find_members(const MemberSelection& selection,
                                               const HelperPrograms& programs,
                                               std::chrono::steady_clock::time_point until);

}  // namespace unhang::collect
