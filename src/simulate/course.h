// SPDX-License-Identifier: Apache-2.0
//
// The course of an incident in true time, read from a job that has run: when it stood still, which process
// was gone from when on, whose watchdog gives up on what, when somebody asked RAS. The writers of logs and
// answers add what each host's clock says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/job.h"
#include "simulate/placement.h"
#include "simulate/truth.h"

namespace unhang::simulate {

constexpr std::int64_t kSecond = 1000000000;
constexpr std::int64_t kTimeLimit = 600 * kSecond;  // of a collective, PyTorch's default

enum class Fate : std::uint8_t { kRuns, kGone, kFrozen };

// One process group of a rank, as its watchdog sees it.
struct GroupCount {
  std::int64_t enqueued = 0;  // sequence number of the last call of its kind; 0: none
  std::int64_t completed = 0;
};

// A watchdog gives up.
struct Timeout {
  Slot slot = Slot::kWorld;
  std::size_t work = 0;
  std::int64_t sequence = 0;
  std::int64_t at = 0;
  std::int64_t ran = 0;  // nanoseconds since the call
  GroupCount count;
};

class Course {
 public:
  // All three must outlive it.
  Course(const Job& job, const Plan& plan, const Truth& truth);

  const Job& job() const { return x_job; }
  const Plan& plan() const { return x_plan; }
  const Truth& truth() const { return x_truth; }
  const Placement& placement() const { return x_placement; }

  bool stalled() const { return x_stalled; }
  std::int64_t stall_start() const { return x_stall_start; }  // the earliest call that never finishes
  std::int64_t end() const { return x_end; }                  // of the last thing that happened in the job

  bool has(Happening::Kind kind) const;
  bool has(Happening::Kind kind, std::int32_t rank) const;

  Fate fate(std::int32_t rank) const { return x_fates[static_cast<std::size_t>(rank)].fate; }
  std::int64_t gone_at(std::int32_t rank) const { return x_fates[static_cast<std::size_t>(rank)].at; }
  // When the trouble of this rank begins: right after the last that it did.
  std::int64_t last_sign(std::int32_t rank) const;

  // In the order of their times. Only of processes that live then.
  std::vector<Timeout> timeouts(std::int32_t rank) const;
  // The first of all ranks, which makes all others write their dumps; nullopt where none gives up.
  std::optional<std::int64_t> first_timeout() const;
  std::int32_t first_to_give_up() const { return x_first_rank; }  // -1: nobody

  // When the process began to make its first communicator.
  std::int64_t start(std::int32_t rank) const;
  // When the adapter of a rank has tried often enough to reach its peer.
  std::int64_t gives_up_on_peer(std::int32_t rank) const;

  // When RAS was asked.
  std::vector<std::int64_t> ras_times() const;

 private:
  struct FateAt {
    Fate fate = Fate::kRuns;
    std::int64_t at = 0;
  };
  void find_stall();
  void find_fates();

  const Job& x_job;
  const Plan& x_plan;
  const Truth& x_truth;
  Placement x_placement;
  bool x_stalled = false;
  std::int64_t x_stall_start = 0;
  std::int64_t x_end = 0;
  std::vector<FateAt> x_fates;
  std::int64_t x_first_timeout = 0;
  std::int32_t x_first_rank = -1;
};

}  // namespace unhang::simulate
