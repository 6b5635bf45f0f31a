// SPDX-License-Identifier: Apache-2.0
#include "model/causes/causes.h"

namespace unhang::model::causes {
namespace {

constexpr Category kDesync[] = {Category::kCollectiveDesync};
// Known reasons behind a desync (its root), which can also stop a job outside communication.
constexpr Category kRoot[] = {Category::kCollectiveDesync, Category::kNotCommunication};
// It can also end the process that the others wait for, or hit NCCL's own buffers while a communicator is
// made.
constexpr Category kGpuMemory[] = {Category::kCollectiveDesync, Category::kNotCommunication,
                                   Category::kProcessOrDeviceUnavailable, Category::kInitializationHang};

constexpr CauseInfo kCauses[] = {
    {.code = "rank_not_entered",
     .title = "a rank did not enter the operation that the others wait in",
     .categories = kDesync,
     .means =
         "All other members have called the operation and wait; this rank has not called it. The network is "
         "not the trouble: the rank's own program, host or GPU is. The waiting ranks are victims, and the "
         "first one to report a time-out is usually one of them.",
     .shows = "In that group, the rank's last operation lies before the one that its peers stand in, and it "
              "waits for nobody.",
     .confirm =
         "On the host of that rank, twice, ten seconds apart: `py-spy dump --pid PID` (add `--native` when "
         "it is inside C code). The same stack twice: it is stuck there. A stack inside another "
         "collective: compare the order of calls.",
     .fix =
         "Repair what that stack shows. To restore service, rebuild the whole group: a single restarted rank "
         "cannot join again. Do not raise the time-out: nobody is coming.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kUnknown},

    {.code = "skipped_collective",
     .title = "a rank left out an operation that the others made",
     .categories = kDesync,
     .means =
         "One rank went on without an operation that its peers called, so from there on every call meets "
         "the wrong partner. It is nearly always a decision that a rank takes by its own data: a branch, a "
         "swallowed exception, one batch less.",
     .shows =
         "From one point on, the rank's operations fit those of the others when they are shifted by one.",
     .confirm =
         "Compare the stacks of this rank and of another at the last operation that fits and at the next "
         "one: the code between the two holds the branch. `unhang collectives` shows both lanes.",
     .fix = "Take such decisions together (reduce or broadcast the flag first) and give all ranks the same "
            "number of iterations. Rebuild the whole group; results since the skip are not to be trusted.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "extra_collective",
     .title = "a rank made an operation that the others did not make",
     .categories = kDesync,
     .means =
         "A few ranks, often rank 0, called one operation more: a barrier or reduce in logging, metrics, "
         "evaluation or checkpoint code that the others do not run.",
     .shows = "Only this rank waits in the operation, and only this rank times out; its later operations fit "
              "the others when they are shifted by one.",
     .confirm =
         "Read the user's frame of that one call (`unhang diagnose -v`), and look for `if rank == 0` or a "
         "condition on local data around it.",
     .fix =
         "Let every member make the call, or none. Rebuild the whole group; results since the extra call are "
         "not to be trusted.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "op_mismatch",
     .title = "ranks call different operations at the same place",
     .categories = kDesync,
     .means =
         "At one ordinal of the group some ranks call one kind of operation and some another. NCCL does not "
         "check this: it can hang, or return wrong data without a word.",
     .shows =
         "Same group, same ordinal, different kind of operation. The majority is the reference; with two "
         "ranks it is a tie.",
     .confirm = "Compare the user's frames of the two calls (`unhang diagnose -v`). In a test run, "
                "`TORCH_DISTRIBUTED_DEBUG=DETAIL` checks every call before it is made.",
     .fix = "Make the branch that separates the two calls depend on data that all ranks share. Rebuild the "
            "whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "size_mismatch",
     .title = "ranks call the same operation with different numbers of elements",
     .categories = kDesync,
     .means =
         "Collectives need matching element counts on all ranks. Uneven batches, a model or vocabulary that "
         "was sharded differently, or other padding break that. It can hang, or give wrong data.",
     .shows = "Same operation, different element counts (another shape with the same count is no fault). In "
              "logs: 'message truncated', 'collective mismatch error, local size A remote size B'.",
     .confirm = "Print the shape on every rank at the frame that the stack names. In a test run, "
                "`TORCH_DISTRIBUTED_DEBUG=DETAIL` names the ranks and shapes.",
     .fix = "Pad to one size, or gather the sizes first and use an operation that takes them. Check that all "
            "ranks loaded the same configuration. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "dtype_mismatch",
     .title = "ranks call the same operation with different data types",
     .categories = kDesync,
     .means =
         "The number of bytes, or their meaning, differs between ranks: autocast or quantisation on one "
         "rank only, or a checkpoint that was loaded in another precision. It can hang, or give wrong data.",
     .shows = "Same operation and ordinal, different data type.",
     .confirm = "Print `tensor.dtype` on every rank at the frame that the stack names, and compare precision "
                "flags and checkpoint of the rank that differs.",
     .fix = "Cast explicitly before the call, from a setting that all ranks share. Rebuild the whole group; "
            "results since the mismatch are not to be trusted.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "root_mismatch",
     .title = "ranks name different roots for one operation",
     .categories = kDesync,
     .means =
         "In a broadcast, reduce, gather or scatter, all ranks must name the same source or destination. A "
         "rank inside a group was taken for a global rank, or each rank named itself.",
     .shows = "NCCL's COLL lines show different 'root' values for one opCount. The Flight Recorder does not "
              "record the root, so dumps alone cannot show it.",
     .confirm =
         "Run with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=COLL` and compare 'root' at this opCount, or print "
         "src/dst on every rank. PyTorch's `src=` and `dst=` are global ranks, also in subgroups.",
     .fix =
         "Use `torch.distributed.get_global_rank(group, 0)`, or `group_src=`/`group_dst=` where PyTorch has "
         "them. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "order_inversion",
     .title = "ranks use two groups in opposite order and wait for each other",
     .categories = kDesync,
     .means =
         "One rank called group A and then B, another B and then A. Each waits in its first call for the "
         "other: a cycle that nothing resolves. With asynchronous calls it deadlocks on the GPU, while the "
         "host looks fine.",
     .shows =
         "The wait-for graph of ranks and groups has a cycle; the same two operations stand in a different "
         "order in two ranks.",
     .confirm =
         "Compare the order of launch around these two operations on both ranks (`unhang collectives`), "
         "and their user frames.",
     .fix =
         "Give all ranks one order of calls for all groups that share members. With several streams, order "
         "them explicitly by events. NCCL 2.26 and later: NCCL_LAUNCH_ORDER_IMPLICIT=1 makes the device "
         "follow the host's order, which helps only where the hosts agree.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "p2p_unmatched",
     .title = "a send has no receive, or a receive no send",
     .categories = kDesync,
     .means =
         "One side of a point-to-point transfer waits and the other never made its call: a pipeline with "
         "unequal numbers of micro-batches, a wrong peer, or a stage that stopped earlier.",
     .shows =
         "On the directed edge the two sides have made different numbers of calls; the waiting side's last "
         "one has no partner.",
     .confirm =
         "On the side without the call: `py-spy dump --pid PID`. If it waits elsewhere, that is the "
         "trouble; if it has gone on, compare counts and peers (in `group=` calls they are global ranks).",
     .fix = "Derive the schedule of both sides from one source, and make paired transfers with "
            "`torch.distributed.batch_isend_irecv`. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "p2p_deadlock",
     .title = "ranks wait for each other in sends or receives",
     .categories = kDesync,
     .means =
         "Each rank of a cycle waits in a send (or a receive) for the next one, which is itself waiting. "
         "Small messages may pass through buffers, so it can begin only when sizes grow.",
     .shows =
         "Pending sends or receives form a cycle (0->1, 1->0), and the matching calls come after them in "
         "program order.",
     .confirm = "Read the user frames of the pending calls on both sides: both send before they receive, or "
                "both receive before they send.",
     .fix =
         "Issue both directions together with `torch.distributed.batch_isend_irecv`, or let even ranks send "
         "first and odd ranks receive first. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "split_mismatch",
     .title = "the split sizes of an all-to-all do not agree between ranks",
     .categories = kDesync,
     .means =
         "What rank i sends to j must be what j expects from i. In expert parallelism the counts come from "
         "routing; when they are computed apart, or a rank drops tokens by itself, they differ and the "
         "transfer waits for ever.",
     .shows = "The sums of sent and expected elements differ. Dumps do not hold the splits themselves: with "
              "equal sums they cannot show it.",
     .confirm =
         "Log input_split_sizes and output_split_sizes of every rank at this call: one table must be the "
         "transpose of the other.",
     .fix =
         "Exchange the counts with a small all_to_all before the data, on the same routing result. Rebuild "
         "the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "application_error",
     .title = "a rank raised an exception and left the common path",
     .categories = kRoot,
     .means =
         "The program failed on one rank: it raised, and now cleans up, retries or sleeps, while its peers "
         "wait for it in an operation. Their time-outs are consequences.",
     .shows =
         "A traceback in that rank's log earlier than any time-out; its stack stands in exception handling, "
         "in destroy_process_group or at exit. The rank that raised may be the one without a dump.",
     .confirm = "Find the first traceback by time over all ranks: `grep -n -m1 Traceback LOG` for each log, "
                "counting back the time-out from the watchdog's message. Then `py-spy dump --pid PID`.",
     .fix = "Repair the exception. Let a rank that raises end at once, so that the launcher tears the group "
            "down, instead of cleaning up with collectives. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},

    {.code = "host_blocked",
     .title = "a rank's host code is blocked outside communication",
     .categories = kRoot,
     .means = "The process is alive and waits for something else: data loader, checkpoint or weight storage, "
              "tokenizer, compilation, a lock, or Python's interpreter lock held by another thread.",
     .shows =
         "The rank has entered nothing further while its peers wait; its stack stands in that code. Process "
         "state D points to storage or to the driver.",
     .confirm =
         "`py-spy dump --pid PID` (the holder of the interpreter lock is marked 'active+gil'), `top -H -p "
         "PID`, `grep State /proc/PID/status`; in state D also `sudo cat /proc/PID/stack`.",
     .fix = "Free what blocks it (storage mount, lock, slow loader). If it is only slow and others still "
            "advance, it may recover by itself; once a time-out has fired, rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kHost},

    {.code = "cuda_oom",
     .title = "a rank ran out of GPU memory",
     .categories = kGpuMemory,
     .means =
         "One rank's allocation failed, so it left the common path, and the others wait. Sequence lengths, "
         "a larger batch or left-over processes on that GPU make one rank differ.",
     .shows = "'CUDA out of memory' or 'torch.OutOfMemoryError' in that rank's log before the time-outs, or "
              "NCCL's \"Cuda failure 'out of memory'\".",
     .confirm = "`grep -il 'out of memory' LOGS`; `nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory "
                "--format=csv` for processes that do not belong to the job.",
     .fix =
         "Lower the memory use on all ranks (batch, sequence length, vLLM `--gpu-memory-utilization`), leave "
         "room for NCCL's buffers, end left-over processes. Rebuild the whole group.",
     .recovery = RecoveryLevel::kProcessGroup,
     .fault_domain = FaultDomain::kApplication},
};

}  // namespace

std::span<const CauseInfo> desync() {
  return kCauses;
}

}  // namespace unhang::model::causes
