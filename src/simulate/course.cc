// SPDX-License-Identifier: Apache-2.0
#include "simulate/course.h"

#include <algorithm>
#include <array>

#include "simulate/random.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kMillisecond = 1000000;

bool unfinished(const Job& job, std::int32_t rank, std::size_t work) {
  return job.times(rank, work).finished == 0 || work >= job.control(rank).unfinished_from;
}

}  // namespace

Course::Course(const Job& job, const Plan& plan, const Truth& truth)
    : x_job(job), x_plan(plan), x_truth(truth), x_placement(plan) {
  find_stall();
  find_fates();
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
    const auto mine = timeouts(rank);
    if (mine.empty() || (x_first_rank >= 0 && mine.front().at >= x_first_timeout)) continue;
    x_first_rank = rank;
    x_first_timeout = mine.front().at;
  }
}

void Course::find_stall() {
  for (std::int32_t rank = 0; rank < x_plan.ranks; ++rank) {
    for (std::size_t i = 0; i < x_job.called(rank); ++i) {
      const WorkTimes& times = x_job.times(rank, i);
      x_end = std::max({x_end, times.created, times.finished});
      if (!unfinished(x_job, rank, i)) continue;
      if (!x_stalled || times.created < x_stall_start) x_stall_start = times.created;
      x_stalled = true;
    }
  }
  if (!x_stalled) x_stall_start = x_end;
}

bool Course::has(Happening::Kind kind) const {
  return std::any_of(x_truth.happenings.begin(), x_truth.happenings.end(),
                     [&](const Happening& what) { return what.kind == kind; });
}

bool Course::has(Happening::Kind kind, std::int32_t rank) const {
  return std::any_of(x_truth.happenings.begin(), x_truth.happenings.end(),
                     [&](const Happening& what) { return what.kind == kind && what.rank == rank; });
}

std::int64_t Course::start(std::int32_t rank) const {
  const std::int64_t first =
      x_job.called(rank) > 0 ? x_job.times(rank, 0).created : x_stall_start + 20 * kMillisecond;
  return first - kSecond;
}

std::int64_t Course::gives_up_on_peer(std::int32_t rank) const {
  const auto drawn = hash({x_plan.seed, 442, static_cast<std::uint64_t>(rank)}) % 3000;
  return x_stall_start + 31 * kSecond + static_cast<std::int64_t>(drawn) * kMillisecond;
}

std::int64_t Course::last_sign(std::int32_t rank) const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < x_job.called(rank); ++i) {
    const WorkTimes& times = x_job.times(rank, i);
    last = std::max({last, times.created, times.finished});
  }
  return last != 0 ? last : x_stall_start;
}

void Course::find_fates() {
  x_fates.resize(static_cast<std::size_t>(x_plan.ranks));
  for (const Happening& what : x_truth.happenings) {
    switch (what.kind) {
      case Happening::Kind::kOutOfMemory:
      case Happening::Kind::kException:
      case Happening::Kind::kVanished:
        x_fates[static_cast<std::size_t>(what.rank)] = {Fate::kGone, last_sign(what.rank) + 8 * kMillisecond};
        break;
      case Happening::Kind::kClosed:
        x_fates[static_cast<std::size_t>(what.rank)] = {
            Fate::kGone, std::max(last_sign(what.rank), last_sign(what.peer)) + 250 * kMillisecond};
        break;
      case Happening::Kind::kNeverStarts:
        x_fates[static_cast<std::size_t>(what.rank)] = {Fate::kGone, 0};
        break;
      case Happening::Kind::kHostFrozen: {
        std::int64_t at = 0;
        const auto ranks = x_placement.ranks_on(x_placement.host_of(what.rank));
        for (const std::int32_t rank : ranks) at = std::max(at, last_sign(rank));
        for (const std::int32_t rank : ranks) x_fates[static_cast<std::size_t>(rank)] = {Fate::kFrozen, at};
        break;
      }
      default:
        break;
    }
  }
}

std::vector<Timeout> Course::timeouts(std::int32_t rank) const {
  std::vector<Timeout> out;
  // While a communicator is made nothing is enqueued yet, and who has an error of NCCL ends by that.
  if (!x_stalled || has(Happening::Kind::kNeverStarts) || has(Happening::Kind::kRetryExceeded, rank))
    return out;
  const Program& program = x_job.program(rank);
  std::array<GroupCount, kSlotCount> counts = {};
  std::array<std::int64_t, kSlotCount> collectives = {};
  std::array<std::int64_t, kSlotCount> transfers = {};
  std::array<bool, kSlotCount> waits = {};
  for (std::size_t i = 0; i < x_job.called(rank); ++i) {
    const Work& work = program.works[i];
    const auto slot = static_cast<std::size_t>(work.slot);
    const std::int64_t number = ++(work.is_p2p() ? transfers : collectives)[slot];
    counts[slot].enqueued = number;
    if (!unfinished(x_job, rank, i)) {
      counts[slot].completed = number;
    } else if (!waits[slot]) {
      waits[slot] = true;
      const std::int64_t late =
          5 * kMillisecond +
          static_cast<std::int64_t>(hash({x_plan.seed, 411, static_cast<std::uint64_t>(rank), slot}) % 900) *
              kMillisecond;
      out.push_back({.slot = work.slot,
                     .work = i,
                     .sequence = number,
                     .at = x_job.times(rank, i).created + kTimeLimit + late,
                     .ran = kTimeLimit + late,
                     .count = {}});
    }
  }
  for (Timeout& each : out) each.count = counts[static_cast<std::size_t>(each.slot)];
  std::sort(out.begin(), out.end(), [](const Timeout& a, const Timeout& b) { return a.at < b.at; });
  if (fate(rank) != Fate::kRuns) out.clear();
  return out;
}

std::optional<std::int64_t> Course::first_timeout() const {
  if (x_first_rank < 0) return std::nullopt;
  return x_first_timeout;
}

std::vector<std::int64_t> Course::ras_times() const {
  const auto drawn = static_cast<std::int64_t>(hash({x_plan.seed, 412}) % 40);
  if (!x_stalled) {
    // Of a job that runs: the second when it has done all that is recorded.
    std::int64_t begin = x_end;
    for (std::int32_t rank = 0; rank < x_plan.ranks; ++rank) {
      if (x_job.called(rank) > 0) begin = std::min(begin, x_job.times(rank, 0).created);
    }
    return {std::max(x_end - 5 * kSecond, begin + (x_end - begin) / 2), x_end + 10 * kMillisecond};
  }
  // Before the adapters give up: then the processes are gone.
  if (has(Happening::Kind::kRetryExceeded))
    return {x_stall_start + 8 * kSecond, x_stall_start + 16 * kSecond};
  return {x_stall_start + (100 + drawn) * kSecond, x_stall_start + (115 + drawn) * kSecond};
}

}  // namespace unhang::simulate
