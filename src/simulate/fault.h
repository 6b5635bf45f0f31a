// SPDX-License-Identifier: Apache-2.0
//
// How each kind of fault changes a job before it runs, and what is true of the evidence then. One function a
// kind, in an explicit table (fault.cc); the functions stand in fault_host.cc (a rank stops),
// fault_program.cc (a rank calls something else) and fault_quiet.cc (devices, transport, watchdogs, files),
// fault_machine.cc (what other evidence than dumps tells).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "simulate/job.h"
#include "simulate/random.h"
#include "simulate/truth.h"

namespace unhang::simulate {

// What a fault function works on: it changes `job` and fills `truth`.
struct Injection {
  Job& job;
  const Plan& plan;
  Truth& truth;
  Random& random;
  std::int32_t culprit;  // chosen, not yet at fault

  const Layout& layout() const { return job.layout(); }
  // Where the last step begins: faults strike there, with a history before them.
  std::size_t fault_begin() const { return job.program(culprit).step_begin(job.steps() - 1); }
  // Says in the truth where it shows.
  void shows_at(Slot slot, std::size_t work);
};

using Inject = base::Result<> (*)(Injection&);

// Fault functions. A plan in which the fault cannot exist is a usage error.
base::Result<> inject_none(Injection& in);
base::Result<> inject_rank_not_entered(Injection& in);
base::Result<> inject_rank0_not_entered(Injection& in);
base::Result<> inject_several_not_entered(Injection& in);
base::Result<> inject_subgroup_not_entered(Injection& in);
base::Result<> inject_never_joined(Injection& in);
base::Result<> inject_rank_silent(Injection& in);
base::Result<> inject_skipped_collective(Injection& in);
base::Result<> inject_extra_collective(Injection& in);
base::Result<> inject_op_mismatch(Injection& in);
base::Result<> inject_size_mismatch(Injection& in);
base::Result<> inject_dtype_mismatch(Injection& in);
base::Result<> inject_order_inversion(Injection& in);
base::Result<> inject_order_inversion_async(Injection& in);
base::Result<> inject_p2p_unmatched(Injection& in);
base::Result<> inject_p2p_deadlock(Injection& in);
base::Result<> inject_split_mismatch(Injection& in);
base::Result<> inject_transport_stall(Injection& in);
base::Result<> inject_gpu_not_progressing(Injection& in);
base::Result<> inject_straggler(Injection& in);
base::Result<> inject_stale_watchdog(Injection& in);
base::Result<> inject_truncated_dump(Injection& in);
base::Result<> inject_gpu_xid(Injection& in);
base::Result<> inject_oom_killed(Injection& in);
base::Result<> inject_process_exited(Injection& in);
base::Result<> inject_link_down(Injection& in);
base::Result<> inject_ib_retry(Injection& in);
base::Result<> inject_bad_host(Injection& in);
base::Result<> inject_host_frozen(Injection& in);
base::Result<> inject_dataloader_blocked(Injection& in);
base::Result<> inject_init_hang(Injection& in);

// Chooses the culprit, changes the job by the plan's fault, and returns the truth. The job must not have run.
base::Result<Truth> inject(Job& job, const Plan& plan);

}  // namespace unhang::simulate
