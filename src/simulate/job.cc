// SPDX-License-Identifier: Apache-2.0
#include "simulate/job.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "simulate/random.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;
constexpr std::int64_t kTransferTime = 400 * kMicrosecond;
constexpr std::int64_t kStart = 1795960000000000000;  // on the hosts' clocks, nanoseconds since the epoch
constexpr std::size_t kRunAhead = 6;                  // works that the host calls before the oldest is done

// What a number is drawn for: different purposes must not share one.
enum Purpose : std::uint64_t { kForStart, kForGap, kForCompute, kForTransport, kForNotice };

std::int64_t jitter(std::uint64_t seed, Purpose purpose, std::uint64_t who, std::uint64_t which,
                    std::int64_t below) {
  return static_cast<std::int64_t>(hash({seed, purpose, who, which}) % static_cast<std::uint64_t>(below));
}

// Computation on the device before it reaches a work.
std::int64_t compute_before(const Work& work) {
  if (work.after_compute) return 60 * kMillisecond;
  switch (work.role) {
    case Role::kSetup:
      return 20 * kMillisecond;
    case Role::kLayer:
      return 8 * kMillisecond;
    case Role::kTensorTail:
    case Role::kDispatch:
      return 3 * kMillisecond;
    case Role::kBucket:
    case Role::kGather:
      return 2 * kMillisecond;
    default:
      return 30 * kMicrosecond;
  }
}

std::int64_t transport_time(const Work& work) {
  switch (work.role) {
    case Role::kBucket:
    case Role::kGather:
      return 5 * kMillisecond;
    case Role::kDispatch:
      return 2 * kMillisecond;
    case Role::kSetup:
      return 10 * kMillisecond;
    default:
      return 200 * kMicrosecond;
  }
}

// Equal for calls that agree.
std::uint32_t agreement_key(const Work& work, const CallTable& calls) {
  if (calls.spec(work.call).uneven && calls.spec(work.call).shortfall != 0) return ~std::uint32_t{work.call};
  return std::uint32_t{work.call} << 16 | (work.kind == Work::Kind::kCoalesced ? work.closing_call + 1U : 0U);
}

}  // namespace

Job::Job(const Layout& layout, Backend backend, std::size_t steps, std::uint64_t seed)
    : x_layout(layout), x_steps(steps), x_seed(seed), x_calls(backend) {
  const auto ranks = static_cast<std::size_t>(layout.ranks());
  for (std::int32_t stage = 0; stage < layout.pipeline(); ++stage) {
    x_stage_programs.push_back(build_program(layout, stage, steps, x_calls));
  }
  x_own_programs.resize(ranks);
  x_controls.resize(ranks);
}

const Program& Job::program(std::int32_t rank) const {
  const auto& own = x_own_programs[static_cast<std::size_t>(rank)];
  return own ? *own : x_stage_programs[static_cast<std::size_t>(x_layout.stage(rank))];
}

Program& Job::stage_program(std::int32_t stage) {
  return x_stage_programs[static_cast<std::size_t>(stage)];
}

Program& Job::own_program(std::int32_t rank) {
  auto& own = x_own_programs[static_cast<std::size_t>(rank)];
  if (!own) own = std::make_unique<Program>(program(rank));
  return *own;
}

void Job::run() {
  CHECK(x_ranks.empty());
  const auto ranks = static_cast<std::size_t>(x_layout.ranks());
  x_ranks.resize(ranks);
  x_groups.resize(static_cast<std::size_t>(x_layout.group_count()));
  x_forward.resize(ranks);
  x_backward.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto rank = static_cast<std::int32_t>(i);
    x_ranks[i].times.resize(program(rank).works.size());
    x_ranks[i].host_time = kStart + jitter(x_seed, kForStart, i, 0, 20000 * kMicrosecond);
    x_ready.push_back(rank);
  }
  while (!x_ready.empty()) {
    const std::int32_t rank = x_ready.back();
    x_ready.pop_back();
    advance(rank);
  }
}

void Job::advance(std::int32_t rank) {
  call_ahead(rank);
  const Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  if (!state.begun && state.finished < state.called && state.finished < control(rank).device_stops_before) {
    begin(rank);
  }
}

std::size_t Job::host_sees_finished(std::int32_t rank) const {
  return std::min(x_ranks[static_cast<std::size_t>(rank)].finished, control(rank).unfinished_from);
}

bool Job::may_call(std::int32_t rank) const {
  const Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  if (state.called >= program(rank).works.size() || state.called >= control(rank).host_stops_before)
    return false;
  const std::size_t finished = host_sees_finished(rank);
  if (state.host_waits_for != RankControl::kNever && state.host_waits_for >= finished) return false;
  // A device that stopped does not hold its host back: nothing asks for the results before the next barrier.
  return control(rank).host_hangs() || state.called < finished + kRunAhead;
}

void Job::call_ahead(std::int32_t rank) {
  Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  const Program& mine = program(rank);
  while (may_call(rank)) {
    const Work& work = mine.works[state.called];
    std::int64_t at =
        state.host_time + 30 * kMicrosecond +
        jitter(x_seed, kForGap, static_cast<std::uint64_t>(rank), state.called, 30 * kMicrosecond);
    // What the host had to wait for before this call.
    const auto wait_for = [&](std::size_t index) {
      const std::int64_t finished = state.times[index].finished;
      if (finished != 0) at = std::max(at, finished + 15 * kMicrosecond);
    };
    if (!control(rank).host_hangs() && state.called >= kRunAhead) wait_for(state.called - kRunAhead);
    if (state.host_waits_for != RankControl::kNever) wait_for(state.host_waits_for);
    if (work.after_compute) at += control(rank).late_ns;
    state.times[state.called].created = state.host_time = at;
    state.host_waits_for = work.host_waits ? state.called : RankControl::kNever;
    ++state.called;
  }
}

void Job::begin(std::int32_t rank) {
  Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  const Work& work = program(rank).works[state.finished];
  WorkTimes& times = state.times[state.finished];
  const std::int64_t compute = compute_before(work);
  const std::int64_t computed =
      state.device_time + compute +
      jitter(x_seed, kForCompute, static_cast<std::uint64_t>(rank), state.finished, compute / 4);
  times.begun = std::max(times.created + 10 * kMicrosecond, computed);
  state.begun = true;
  if (work.is_p2p()) {
    join_transfer(rank, work, times.begun);
  } else {
    join_collective(rank, work, times.begun);
  }
}

void Job::join_collective(std::int32_t rank, const Work& work, std::int64_t at) {
  const std::int32_t number = x_layout.group_of(rank, work.slot);
  GroupPoint& point = x_groups[static_cast<std::size_t>(number)];
  const std::uint32_t key = agreement_key(work, x_calls);
  if (point.arrived == 0) {
    point.key = key;
    point.latest = at;
    point.broken = false;
  }
  point.broken = point.broken || point.key != key;
  point.latest = std::max(point.latest, at);
  if (++point.arrived < x_layout.size(work.slot) || point.broken) return;
  if (x_stall && x_stall->group == number && x_stall->nth == point.done + 1) return;
  ++point.done;
  point.arrived = 0;
  const auto group = static_cast<std::uint64_t>(number);
  const std::int64_t duration = transport_time(work);
  const std::int64_t done =
      point.latest + duration +
      jitter(x_seed, kForTransport, group, static_cast<std::uint64_t>(point.done), duration / 2);
  for (const std::int32_t member : x_layout.members(rank, work.slot)) finish(member, done);
}

void Job::join_transfer(std::int32_t rank, const Work& work, std::int64_t at) {
  Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  const bool batched = work.kind == Work::Kind::kBatch;
  state.open_ends = work.inner;
  state.matched = at;
  for (std::size_t i = 0; i < work.inner; ++i) {
    const End end = work.ends[i];
    const bool to_next = end == End::kSendNext || end == End::kRecvNext;
    const bool sends = end == End::kSendNext || end == End::kSendPrevious;
    const std::int32_t earlier = to_next ? rank : x_layout.previous_stage(rank);
    const std::int32_t peer = to_next ? x_layout.next_stage(rank) : earlier;
    Edge& edge = (to_next == sends ? x_forward : x_backward)[static_cast<std::size_t>(earlier)];
    (sends ? edge.send : edge.recv) = at;
    (sends ? edge.send_batched : edge.recv_batched) = batched;
    meet(edge, sends ? rank : peer, sends ? peer : rank);
  }
}

void Job::meet(Edge& edge, std::int32_t sender, std::int32_t receiver) {
  if (edge.send == 0 || edge.recv == 0 || edge.send_batched != edge.recv_batched) return;
  const std::int64_t at = std::max(edge.send, edge.recv) + kTransferTime;
  edge = {};
  close_end(sender, at);
  close_end(receiver, at);
}

void Job::close_end(std::int32_t rank, std::int64_t at) {
  Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  state.matched = std::max(state.matched, at);
  if (--state.open_ends == 0) finish(rank, state.matched);
}

void Job::finish(std::int32_t rank, std::int64_t at) {
  Rank& state = x_ranks[static_cast<std::size_t>(rank)];
  CHECK(state.begun);
  state.device_time =
      at + jitter(x_seed, kForNotice, static_cast<std::uint64_t>(rank), state.finished, 15 * kMicrosecond);
  state.times[state.finished].finished = state.device_time;
  ++state.finished;
  state.begun = false;
  x_ready.push_back(rank);
}

std::size_t Job::called(std::int32_t rank) const {
  return x_ranks[static_cast<std::size_t>(rank)].called;
}

const WorkTimes& Job::times(std::int32_t rank, std::size_t work) const {
  return x_ranks[static_cast<std::size_t>(rank)].times[work];
}

bool Job::seen_finished(std::int32_t rank, std::size_t work) const {
  const RankControl& mine = control(rank);
  return times(rank, work).finished != 0 && work < mine.unfinished_from && work + mine.stale < called(rank);
}

}  // namespace unhang::simulate
