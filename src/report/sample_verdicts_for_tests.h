// SPDX-License-Identifier: Apache-2.0
//
// Verdicts made by hand, as detect/ would make them: the report's tests render them, and a person can look at
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::report::samples {

inline std::vector<std::int32_t> all_but(std::int32_t count, const std::vector<std::int32_t>& out) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < count; ++rank) {
    if (std::find(out.begin(), out.end(), rank) == out.end()) ranks.push_back(rank);
  }
  return ranks;
}

inline std::vector<std::string> hosts(int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back("node" + std::to_string(i));
  return out;
}

inline model::Subject rank_subject(std::int32_t rank, const std::string& host, const std::string& why = "",
                                   std::vector<model::EvidenceId> evidence = {}) {
  model::Subject subject;
  subject.rank = rank;
  subject.host = host;
  subject.why = why;
  subject.evidence = std::move(evidence);
  return subject;
}

// One rank of 1,024 stopped before a tensor-parallel all_gather; the waiting spreads over the whole job.
inline model::Verdict rank_not_entered_1024() {
  model::Verdict v;
  v.category = model::Category::kCollectiveDesync;
  v.cause = "rank_not_entered";
  v.phase = model::Phase::kSteady;
  v.state = model::State::kStopped;
  v.confidence = model::Confidence::kHigh;
  v.headline =
      "Rank 133 (node16) did not enter all_gather #1412 of TENSOR_MODEL_PARALLEL_GROUP (35); 1,023 ranks "
      "wait "
      "for it, directly or through other groups.";
  v.culprits = {rank_subject(133, "node16", "stands at #1411 of this group, waits for nobody", {0})};
  v.where = {
      "TENSOR_MODEL_PARALLEL_GROUP (35)",
      "all_gather",
      1412,
      42,
      {{"all_gather", "torch/distributed/distributed_c10d.py", 4021, false},
       {"gather_from_tensor_model_parallel_region", "megatron/core/tensor_parallel/mappings.py", 412, true}}};
  v.blast_radius.ranks = all_but(1024, {133});
  v.blast_radius.groups = {"TENSOR_MODEL_PARALLEL_GROUP (35)", "DATA_PARALLEL_GROUP (7)", "default_pg (0)"};
  v.blast_radius.hosts = hosts(128);
  v.evidence = {
      {"dumps/node16_dump_133", {}, {}, 88123, "last entry of group 35: all_gather #1411, completed"},
      {"dumps/node16_dump_128", {}, {}, 88140, "all_gather #1412 scheduled, 604 s old at the dump"},
      {"dumps/node16_dump_129", {}, {}, 88140, "all_gather #1412 scheduled"},
      {"dumps/node0_dump_0", {}, {}, 90211, "all_reduce #391 of DATA_PARALLEL_GROUP (7) scheduled"}};
  model::Finding finding{
      "desync-1",
      v.category,
      v.cause,
      model::Confidence::kHigh,
      "7 of 8 members stand in all_gather #1412, rank 133 stands at #1411 with nothing pending.",
      v.culprits,
      {0, 1, 2},
      {"transport: the operation is not complete on any link, one member is missing"}};
  v.findings = {finding};
  v.not_seen = {"no dump from 3 ranks (7,9,500)",
                "CUDA-graph replays and custom all-reduce leave no record in the Flight Recorder"};
  v.recovery.level = model::RecoveryLevel::kProcessGroup;
  v.recovery.steps = {
      {"See where rank 133 stands, on node16, twice", "py-spy dump --pid PID", false},
      {"Look for a GPU or memory fault on node16", "dmesg -T | grep -iE 'xid|oom-kill|mlx5'", false},
      {"Rebuild the whole group; never restart rank 133 alone", "", true},
      {"Copy the dumps of ranks 7,9,500 and diagnose again", "", false}};
  v.expected_ranks = 1024;
  v.coverage = {{"flight_recorder", all_but(1024, {7, 9, 500}), {}, {}, {7, 9, 500}}};
  v.clocks = {{"node0", 0, 1'200'000, "reference"},
              {"node16", -48'123'000, 2'400'000, "311 operations completed together"}};
  v.stacks = {
      {{133}, "culprit", {{"_next_batch", "train/data.py", 77, true}, {"main", "train/train.py", 210, true}}},
      {all_but(1024, {133}), "waiting", v.where.stack}};
  return v;
}

// Two ranks, two opinions: nobody can say which is right.
inline model::Verdict tie_of_two() {
  model::Verdict v;
  v.category = model::Category::kCollectiveDesync;
  v.cause = "op_mismatch";
  v.phase = model::Phase::kFirstCollective;
  v.fault_domain = model::FaultDomain::kApplication;
  v.state = model::State::kStopped;
  v.confidence = model::Confidence::kMedium;
  v.headline =
      "Ranks 0 and 1 call different operations at #2 of default_pg (0): all_reduce and broadcast. With two "
      "ranks "
      "there is no majority.";
  v.culprits = {rank_subject(0, "", "calls all_reduce", {0}), rank_subject(1, "", "calls broadcast", {1})};
  v.where = {"default_pg (0)", "all_reduce / broadcast", 2, {}, {}};
  v.blast_radius.ranks = {0, 1};
  v.evidence = {{"nccl_trace_rank_0", {}, {}, 1, "all_reduce #2, Float 1024"},
                {"nccl_trace_rank_1", {}, {}, 1, "broadcast #2, Float 1024"}};
  v.recovery = {
      model::RecoveryLevel::kProcessGroup,
      {{"Compare the two calling lines", "unhang diagnose -v nccl_trace_rank_0 nccl_trace_rank_1", false},
       {"Rebuild the whole group", "", true}}};
  v.expected_ranks = 2;
  v.coverage = {{"flight_recorder", {0, 1}, {}, {}, {}}};
  return v;
}

inline model::Verdict rank_silent() {
  model::Verdict v;
  v.category = model::Category::kProcessOrDeviceUnavailable;
  v.cause = "rank_silent";
  v.phase = model::Phase::kSteady;
  v.state = model::State::kStopped;
  v.confidence = model::Confidence::kLow;
  v.headline = "Ranks 0,1,3 wait in all_reduce #5 of default_pg (0) for rank 2, which left no dump.";
  v.culprits = {rank_subject(2, "", "no file of it among the inputs")};
  v.where = {"default_pg (0)", "all_reduce", 5, {}, {}};
  v.blast_radius.ranks = {0, 1, 3};
  v.evidence = {{"fr/trace_0", {}, {}, 5, "all_reduce #5 scheduled"},
                {"fr/trace_1", {}, {}, 5, "all_reduce #5 scheduled"}};
  v.findings = {{"silent-1",
                 v.category,
                 v.cause,
                 model::Confidence::kLow,
                 "Three of four members wait.",
                 v.culprits,
                 {0, 1},
                 {}}};
  v.not_seen = {"no dump from rank 2: dead, too stuck to write it, or just not copied"};
  v.alternatives = {{model::Category::kCollectiveDesync,
                     "rank_not_entered",
                     {},
                     {},
                     "copy the dump of rank 2 and diagnose again"}};
  v.recovery = {model::RecoveryLevel::kProcessGroup,
                {{"Look for the dump of rank 2 on its host",
                  "ls -l ~/.cache/torch/comm_lib_trace_rank_2 /tmp/nccl_trace_rank_2", false},
                 {"No file: is the process alive?", "py-spy dump --pid PID", false},
                 {"Rebuild the whole group", "", true}}};
  v.expected_ranks = 4;
  v.coverage = {{"flight_recorder", {0, 1, 3}, {}, {}, {2}}};
  return v;
}

inline model::Verdict healthy() {
  model::Verdict v;
  v.category = model::Category::kHealthy;
  v.state = model::State::kUnknown;
  v.confidence = model::Confidence::kMedium;
  v.headline = "All 16 ranks stand at the same place in every group; nothing is pending and nothing differs.";
  v.not_seen = {"one dump a rank is a snapshot: it cannot show whether the job still advances"};
  v.expected_ranks = 16;
  v.coverage = {{"flight_recorder", all_but(16, {}), {}, {}, {}}};
  return v;
}

inline model::Verdict transport_stall() {
  model::Verdict v;
  v.category = model::Category::kTransportStall;
  v.cause = "unknown";
  v.phase = model::Phase::kSteady;
  v.state = model::State::kStopped;
  v.confidence = model::Confidence::kMedium;
  v.headline = "All 64 ranks entered all_reduce #77031 of default_pg (0), and none finished it.";
  v.where = {"default_pg (0)", "all_reduce", 77031, 311, {}};
  v.blast_radius.ranks = all_but(64, {});
  v.blast_radius.hosts = hosts(8);
  v.evidence = {{"dumps/dump_0", {}, {}, 154120, "all_reduce #77031 started"},
                {"dumps/dump_1", {}, {}, 154120, "all_reduce #77031 started"}};
  v.findings = {{"transport-1",
                 v.category,
                 v.cause,
                 model::Confidence::kMedium,
                 "symmetric: 64 of 64 members are inside.",
                 {},
                 {0, 1},
                 {}}};
  v.not_seen = {"no NCCL log, no kernel log, no RAS: nothing here can point at a link"};
  v.recovery = {model::RecoveryLevel::kProcessGroup,
                {{"Kernel messages of all hosts", "dmesg -T | grep -iE 'xid|sxid|mlx5|link'", false},
                 {"Adapters of all hosts", "ibstat", false},
                 {"Rebuild the whole group, then re-test its nodes", "", true}}};
  v.expected_ranks = 64;
  v.coverage = {{"flight_recorder", all_but(64, {}), {}, {}, {}}};
  return v;
}

inline model::Verdict straggler() {
  model::Verdict v;
  v.category = model::Category::kPerformanceDegradation;
  v.cause = "straggler_rank";
  v.phase = model::Phase::kSteady;
  v.state = model::State::kSlow;
  v.confidence = model::Confidence::kHigh;
  v.headline = "Rank 3 comes last to 96 of 100 operations of default_pg (0), 212 ms after the median.";
  v.culprits = {rank_subject(3, "gpu-b07", "last in 96 of 100", {0})};
  v.where = {"default_pg (0)", "all_reduce", {}, {}, {}};
  v.blast_radius.ranks = {0, 1, 2};
  v.evidence = {{"dump_3", {}, {}, 99, "all_reduce #100 called 214 ms after rank 0"}};
  v.recovery = {
      model::RecoveryLevel::kNone,
      {{"Clocks and throttling, on gpu-b07", "nvidia-smi -q -d PERFORMANCE,CLOCK,POWER,TEMPERATURE", false}}};
  v.expected_ranks = 4;
  v.coverage = {{"flight_recorder", {0, 1, 2, 3}, {}, {}, {}}};
  return v;
}

inline model::Verdict inconclusive() {
  model::Verdict v;
  v.category = model::Category::kInconclusive;
  v.cause = "unknown";
  v.state = model::State::kStopped;
  v.confidence = model::Confidence::kLow;
  v.headline = "Something stopped in pipeline (12), but the dumps that would show who are cut off.";
  v.suspects = {rank_subject(4, "node1", "its dump ends in the middle of its operations", {0})};
  v.where = {"pipeline (12)", "recv 4->5", {}, {}, {}};
  v.blast_radius.ranks = {5, 6, 7};
  v.evidence = {{"node1/dump_4", {}, 81920, {}, "the file ends here, inside an entry"}};
  v.not_seen = {"the end of the dump of rank 4 (cut off at byte 81,920)", "no dump from ranks 8-15"};
  v.alternatives = {{model::Category::kCollectiveDesync,
                     "p2p_unmatched",
                     {"rank 5 waits in a receive"},
                     {"rank 4's tail is not known"},
                     "a complete dump of rank 4, or its stack: py-spy dump --pid PID"}};
  v.recovery = {model::RecoveryLevel::kProcessGroup,
                {{"Save what is there, then rebuild the whole group", "", true}}};
  v.expected_ranks = 16;
  v.coverage = {{"flight_recorder", {0, 1, 2, 3, 5, 6, 7}, {4}, {}, {8, 9, 10, 11, 12, 13, 14, 15}}};
  return v;
}

// More of everything than a screen can hold.
inline model::Verdict crowded() {
  model::Verdict v = rank_not_entered_1024();
  v.culprits.clear();
  for (std::int32_t rank = 0; rank < 600; rank += 7)
    v.culprits.push_back(
        rank_subject(rank, "very-long-host-name-" + std::to_string(rank / 8) + ".cluster.example.org", "why",
                     {0, 1, 2, 3}));
  model::Subject pair;
  pair.kind = model::SubjectKind::kPair;
  pair.rank = 2;
  pair.peer = 3;
  v.culprits.push_back(pair);
  v.root = "host_blocked";
  v.headline = "";
  for (int i = 0; i < 60; ++i) v.headline += "Many words that tell a long story. ";
  v.where.group = std::string(300, 'g');
  for (int i = 0; i < 40; ++i)
    v.not_seen.push_back("something else that was not seen, number " + std::to_string(i));
  for (auto& step : v.recovery.steps)
    step.why += std::string(" and more and more words about this step").append(120, '.');
  v.blast_radius.ranks.clear();
  for (std::int32_t rank = 0; rank < 100000; rank += 1 + rank % 3) v.blast_radius.ranks.push_back(rank);
  for (auto& item : v.evidence) item.text = std::string(200, 'x');
  return v;
}

// Names that try to act on the terminal or on the ticket.
inline model::Verdict hostile() {
  model::Verdict v = rank_silent();
  const std::string bad =
      "\x1b[31mred\x1b[0m\x07\r\nmore\x9b"
      "0m \xe2\x80\xae"
      "txt | `cell` <script>alert(1)</script> \xff";
  v.headline = bad;
  v.culprits[0].host = bad;
  v.culprits[0].why = bad;
  v.where.group = bad;
  v.where.operation = bad;
  v.not_seen = {bad};
  v.evidence[0].file = bad;
  v.evidence[0].text = bad;
  v.findings[0].evidence = {0};
  v.recovery.steps[0] = {bad, bad, false};
  v.recovery.retest = {bad};
  v.history = {{bad, 2, 1, bad, bad}};
  v.stacks = {{{2}, bad, {{bad, bad, 3, true}}}};
  v.coverage[0].source = bad;
  v.timeline = {{bad, bad, bad, bad, {}}};
  v.blast_radius.hosts = {bad};
  v.blast_radius.instances = {bad};
  return v;
}

}  // namespace unhang::report::samples
