// SPDX-License-Identifier: Apache-2.0
//
// The first screen, word for word, for the verdicts that people meet most. When one of these changes, read it
// as somebody who was woken by it before you change the expectation.
#include <gtest/gtest.h>

#include "report/sample_verdicts_for_tests.h"
#include "report/terminal.h"

namespace unhang::report {
namespace {

std::string screen(const model::Verdict& verdict, int width) {
  TerminalOptions options;
  options.width = width;
  return "\n" + render_terminal(verdict, options);
}

TEST(FirstScreenAt80, OneRankOf1024IsMissingInATensorGroup) {
  EXPECT_EQ(screen(samples::rank_not_entered_1024(), 80), R"(
COLLECTIVE DESYNC · stopped · high confidence
Rank 133 (node16) did not enter all_gather #1412 of TENSOR_MODEL_PARALLEL_GROUP
(35); 1,023 ranks wait for it, directly or through other groups.
who      rank 133 (node16): stands at #1411 of this group, waits for nobody
why      rank_not_entered: a rank did not enter the operation that the others …
where    all_gather #1412 · group TENSOR_MODEL_PARALLEL_GROUP (35) · step 42
impact   1,023 of 1,024 ranks waiting: 0-132,134-1023 · 128 hosts
not seen no dump from 3 ranks (7,9,500) … (+1 more)
do next  1. See where rank 133 stands, on node16, twice: py-spy dump --pid PID
         2. Look for a GPU or memory fault on node16:
            dmesg -T | grep -iE 'xid|oom-kill|mlx5'
         3. [disruptive] Rebuild the whole group; never restart rank 133 alone
evidence node16_dump_133 record 88123: last entry of group 35: all_gather #1411…
         node16_dump_128 record 88140: all_gather #1412 scheduled, 604 s old at…
more     -v 1 more step, details · --json · unhang explain rank_not_entered
)");
}

TEST(FirstScreenAt80, TwoRanksDisagreeAndNobodyIsTheMajority) {
  EXPECT_EQ(screen(samples::tie_of_two(), 80), R"(
COLLECTIVE DESYNC · stopped · medium confidence
Ranks 0 and 1 call different operations at #2 of default_pg (0): all_reduce and
broadcast. With two ranks there is no majority.
who      ranks 0,1
why      op_mismatch: ranks call different operations at the same place
where    all_reduce / broadcast #2 · group default_pg (0)
impact   both ranks waiting
not seen nothing missing: flight recorder read for all 2 ranks
do next  1. Compare the two calling lines:
            unhang diagnose -v nccl_trace_rank_0 nccl_trace_rank_1
         2. [disruptive] Rebuild the whole group
evidence nccl_trace_rank_0 record 1: all_reduce #2, Float 1024
         nccl_trace_rank_1 record 1: broadcast #2, Float 1024
more     -v findings and stacks · --json · unhang explain op_mismatch
)");
}

TEST(FirstScreenAt80, ARankLeftNoDump) {
  EXPECT_EQ(screen(samples::rank_silent(), 80), R"(
PROCESS OR DEVICE UNAVAILABLE · stopped · low confidence
Ranks 0,1,3 wait in all_reduce #5 of default_pg (0) for rank 2, which left no
dump.
who      rank 2: no file of it among the inputs
why      rank_silent: no sign of life from a rank that the others wait for
where    all_reduce #5 · group default_pg (0)
impact   3 of 4 ranks waiting: 0,1,3
not seen no dump from rank 2: dead, too stuck to write it, or just not copied
do next  1. Look for the dump of rank 2 on its host:
            ls -l ~/.cache/torch/comm_lib_trace_rank_2 /tmp/nccl_trace_rank_2
         2. No file: is the process alive? py-spy dump --pid PID
         3. [disruptive] Rebuild the whole group
decide   rank_not_entered? copy the dump of rank 2 and diagnose again
evidence trace_0 record 5: all_reduce #5 scheduled
more     -v findings and stacks · --json · unhang explain rank_silent
)");
}

TEST(FirstScreenAt80, NothingIsWrong) {
  EXPECT_EQ(screen(samples::healthy(), 80), R"(
HEALTHY · state unknown · medium confidence
All 16 ranks stand at the same place in every group; nothing is pending and
nothing differs.
not seen one dump a rank is a snapshot: it cannot show whether the job still
         advances
more     -v findings and stacks · --json
)");
}

TEST(FirstScreenAt80, EverybodyIsInsideAndNobodyIsBlamed) {
  EXPECT_EQ(screen(samples::transport_stall(), 80), R"(
TRANSPORT STALL · stopped · medium confidence
All 64 ranks entered all_reduce #77031 of default_pg (0), and none finished it.
who      no single culprit is proven by this evidence
why      unknown: the evidence does not say why
where    all_reduce #77031 · group default_pg (0) · step 311
impact   all 64 ranks waiting · 8 hosts
not seen no NCCL log, no kernel log, no RAS: nothing here can point at a link
do next  1. Kernel messages of all hosts:
            dmesg -T | grep -iE 'xid|sxid|mlx5|link'
         2. Adapters of all hosts: ibstat
         3. [disruptive] Rebuild the whole group, then re-test its nodes
evidence dump_0 record 154120: all_reduce #77031 started
         dump_1 record 154120: all_reduce #77031 started
more     -v findings and stacks · --json · unhang explain unknown
)");
}

TEST(FirstScreenAt80, OneRankIsSlow) {
  EXPECT_EQ(screen(samples::straggler(), 80), R"(
PERFORMANCE DEGRADATION · slow · high confidence
Rank 3 comes last to 96 of 100 operations of default_pg (0), 212 ms after the
median.
who      rank 3 (gpu-b07): last in 96 of 100
why      straggler_rank: one rank comes last again and again, and the others
         wait for it
where    all_reduce · group default_pg (0)
impact   3 of 4 ranks slowed down: 0-2
not seen nothing missing: flight recorder read for all 4 ranks
do next  1. Clocks and throttling, on gpu-b07:
            nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE
evidence dump_3 record 99: all_reduce #100 called 214 ms after rank 0
more     -v findings and stacks · --json · unhang explain straggler_rank
)");
}

TEST(FirstScreenAt80, ASuspectIsNotACulprit) {
  EXPECT_EQ(screen(samples::inconclusive(), 80), R"(
INCONCLUSIVE · stopped · low confidence
Something stopped in pipeline (12), but the dumps that would show who are cut
off.
who      no culprit is proven; a suspect is only where to look first
suspect  rank 4 (node1): its dump ends in the middle of its operations
why      unknown: the evidence does not say why
where    recv 4->5 · group pipeline (12)
impact   3 of 16 ranks waiting: 5-7
not seen the end of the dump of rank 4 (cut off at byte 81,920); no dump from
         ranks 8-15
do next  1. [disruptive] Save what is there, then rebuild the whole group
decide   p2p_unmatched? a complete dump of rank 4, or its stack: py-spy dump
         --pid PID
evidence dump_4 byte 81920: the file ends here, inside an entry
more     -v findings and stacks · --json · unhang explain unknown
)");
}

TEST(FirstScreenAt160, OneRankOf1024IsMissingInATensorGroup) {
  EXPECT_EQ(screen(samples::rank_not_entered_1024(), 160), R"(
COLLECTIVE DESYNC · stopped · high confidence
Rank 133 (node16) did not enter all_gather #1412 of TENSOR_MODEL_PARALLEL_GROUP (35); 1,023 ranks wait for it, directly or through other groups.
who      rank 133 (node16): stands at #1411 of this group, waits for nobody
why      rank_not_entered: a rank did not enter the operation that the others wait in
where    all_gather #1412 · group TENSOR_MODEL_PARALLEL_GROUP (35) · step 42
impact   1,023 of 1,024 ranks waiting: 0-132,134-1023 · 3 groups · 128 hosts
not seen no dump from 3 ranks (7,9,500); CUDA-graph replays and custom all-reduce leave no record in the Flight Recorder
do next  1. See where rank 133 stands, on node16, twice: py-spy dump --pid PID
         2. Look for a GPU or memory fault on node16: dmesg -T | grep -iE 'xid|oom-kill|mlx5'
         3. [disruptive] Rebuild the whole group; never restart rank 133 alone
evidence node16_dump_133 record 88123: last entry of group 35: all_gather #1411, completed
         node16_dump_128 record 88140: all_gather #1412 scheduled, 604 s old at the dump
         node16_dump_129 record 88140: all_gather #1412 scheduled
more     -v 1 more step, findings and stacks · --json · unhang explain rank_not_entered
)");
}

TEST(FirstScreenAt160, ARankLeftNoDump) {
  EXPECT_EQ(screen(samples::rank_silent(), 160), R"(
PROCESS OR DEVICE UNAVAILABLE · stopped · low confidence
Ranks 0,1,3 wait in all_reduce #5 of default_pg (0) for rank 2, which left no dump.
who      rank 2: no file of it among the inputs
why      rank_silent: no sign of life from a rank that the others wait for
where    all_reduce #5 · group default_pg (0)
impact   3 of 4 ranks waiting: 0,1,3
not seen no dump from rank 2: dead, too stuck to write it, or just not copied
do next  1. Look for the dump of rank 2 on its host: ls -l ~/.cache/torch/comm_lib_trace_rank_2 /tmp/nccl_trace_rank_2
         2. No file: is the process alive? py-spy dump --pid PID
         3. [disruptive] Rebuild the whole group
decide   rank_not_entered? copy the dump of rank 2 and diagnose again
evidence trace_0 record 5: all_reduce #5 scheduled
         trace_1 record 5: all_reduce #5 scheduled
more     -v findings and stacks · --json · unhang explain rank_silent
)");
}

TEST(FirstScreenAt160, ASuspectIsNotACulprit) {
  EXPECT_EQ(screen(samples::inconclusive(), 160), R"(
INCONCLUSIVE · stopped · low confidence
Something stopped in pipeline (12), but the dumps that would show who are cut off.
who      no culprit is proven; a suspect is only where to look first
suspect  rank 4 (node1): its dump ends in the middle of its operations
why      unknown: the evidence does not say why
where    recv 4->5 · group pipeline (12)
impact   3 of 16 ranks waiting: 5-7
not seen the end of the dump of rank 4 (cut off at byte 81,920); no dump from ranks 8-15
do next  1. [disruptive] Save what is there, then rebuild the whole group
decide   p2p_unmatched? a complete dump of rank 4, or its stack: py-spy dump --pid PID
evidence dump_4 byte 81920: the file ends here, inside an entry
more     -v findings and stacks · --json · unhang explain unknown
)");
}

}  // namespace
}  // namespace unhang::report
