// SPDX-License-Identifier: Apache-2.0
//
// A job that runs its programs: who calls what when, what finishes, and who is stuck for ever.
//
// The rules are those of a job on GPUs. The host calls ahead of the device by a few operations and waits at
// barriers. The device works in the order of the calls: an operation begins when the one before is done, and
// finishes when all members of its group have begun the same one. A transfer finishes when both ends have
// begun. So one rank that stops stops the others exactly where a real job would. Times are a max-plus of
// these rules and of a seeded jitter: the order in which ranks are worked off does not matter.
//
// Use: construct, change programs and controls (fault.h does), run() once, read. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/program.h"

namespace unhang::simulate {

// What may go wrong with a rank besides its program.
struct RankControl {
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  std::size_t host_stops_before = kNever;    // the host never calls this work
  std::size_t unfinished_from = kNever;      // the device reports nothing as done from this work on
  std::size_t device_stops_before = kNever;  // the device never begins this work
  std::size_t stale = 0;                     // the watchdog has not noticed the end of so many last works
  std::int64_t late_ns = 0;                  // this much later than it should after each step's computation
  bool silent = false;                       // leaves no dump
  bool truncated = false;                    // its dump is cut off

  bool host_hangs() const { return unfinished_from != kNever; }
};

struct WorkTimes {
  std::int64_t created = 0;   // the host called
  std::int64_t begun = 0;     // the device reached it; 0: never
  std::int64_t finished = 0;  // 0: never
};

class Job {
 public:
  Job(const Layout& layout, Backend backend, std::size_t steps, std::uint64_t seed);

  const Layout& layout() const { return x_layout; }
  std::size_t steps() const { return x_steps; }
  std::uint64_t seed() const { return x_seed; }
  CallTable& calls() { return x_calls; }
  const CallTable& calls() const { return x_calls; }

  const Program& program(std::int32_t rank) const;
  Program& stage_program(std::int32_t stage);  // of all its ranks
  Program& own_program(std::int32_t rank);     // of this rank only, a copy from the first call on
  RankControl& control(std::int32_t rank) { return x_controls[static_cast<std::size_t>(rank)]; }
  const RankControl& control(std::int32_t rank) const { return x_controls[static_cast<std::size_t>(rank)]; }

  // The nth (from 1) collective of this group moves no data: all enter, none finish.
  void stall(std::int32_t group, std::int64_t nth) { x_stall = Stall{group, nth}; }

  void run();

  // After run().
  std::size_t called(std::int32_t rank) const;  // works that the host called
  const WorkTimes& times(std::int32_t rank, std::size_t work) const;
  bool seen_finished(std::int32_t rank, std::size_t work) const;  // as this rank's watchdog knows it

 private:
  struct Stall {
    std::int32_t group;
    std::int64_t nth;
  };
  struct Rank {
    std::vector<WorkTimes> times;
    std::size_t called = 0;
    std::size_t finished = 0;  // works are finished in order
    std::int64_t host_time = 0;
    std::int64_t device_time = 0;
    std::size_t host_waits_for = RankControl::kNever;
    bool begun = false;        // the device is in work number `finished`
    int open_ends = 0;         // of the transfer that the device is in
    std::int64_t matched = 0;  // when the latest of its ends met its partner
  };
  // The one collective that a group is in: nobody reaches the next before it is done.
  struct GroupPoint {
    std::int32_t arrived = 0;
    bool broken = false;  // members came with different calls
    std::uint32_t key = 0;
    std::int64_t latest = 0;
    std::int64_t done = 0;
  };
  // One direction between two stages.
  struct Edge {
    std::int64_t send = 0;  // when begun; 0: not
    std::int64_t recv = 0;
    bool send_batched = false;
    bool recv_batched = false;
  };

  void advance(std::int32_t rank);
  void call_ahead(std::int32_t rank);
  bool may_call(std::int32_t rank) const;
  void begin(std::int32_t rank);
  void join_collective(std::int32_t rank, const Work& work, std::int64_t at);
  void join_transfer(std::int32_t rank, const Work& work, std::int64_t at);
  void meet(Edge& edge, std::int32_t sender, std::int32_t receiver);
  void close_end(std::int32_t rank, std::int64_t at);
  void finish(std::int32_t rank, std::int64_t at);
  std::size_t host_sees_finished(std::int32_t rank) const;

  Layout x_layout;
  std::size_t x_steps;
  std::uint64_t x_seed;
  CallTable x_calls;
  std::vector<Program> x_stage_programs;
  std::vector<std::unique_ptr<Program>> x_own_programs;  // by rank; null: the stage's
  std::vector<RankControl> x_controls;
  std::optional<Stall> x_stall;

  std::vector<Rank> x_ranks;
  std::vector<GroupPoint> x_groups;
  std::vector<Edge> x_forward;   // by the rank of the earlier stage
  std::vector<Edge> x_backward;  // by the rank of the earlier stage
  std::vector<std::int32_t> x_ready;
};

}  // namespace unhang::simulate
