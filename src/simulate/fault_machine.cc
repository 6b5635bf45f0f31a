// SPDX-License-Identifier: Apache-2.0
//
// Faults of devices, processes, machines and links, which other evidence than dumps tells: the dumps show
// only that somebody does not come, or that nothing moves.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "simulate/fault.h"
#include "simulate/placement.h"

namespace unhang::simulate {
namespace {

const Acceptable kNotEntered = {"collective_desync", {"rank_not_entered"}};

// The work before which everybody who is at fault stops: one of the world, in the last step.
std::size_t nth_of_world(Injection& in) {
  return in.random.below(in.job.program(in.culprit).count(Role::kWorldTail, in.fault_begin()));
}

void stop_rank(Injection& in, std::int32_t rank, std::size_t nth) {
  const Program& program = in.job.program(rank);
  const std::size_t before =
      program.find(Role::kWorldTail, program.step_begin(in.job.steps() - 1), nth).value();
  in.job.control(rank).host_stops_before = before;
  in.truth.injected.push_back(rank);
  in.truth.culprits.push_back(rank);
  if (rank == in.culprit) in.shows_at(Slot::kWorld, before);
}

void happens(Injection& in, Happening::Kind kind, std::int32_t code = 0) {
  in.truth.happenings.push_back({.kind = kind, .rank = in.culprit, .code = code});
  in.truth.culprit_hosts = {Placement(in.plan).host_of(in.culprit)};
}

// What the asked-for sources can tell. `sure`: what must come out where `telling` is among them.
void accept(Injection& in, std::uint8_t telling, std::vector<std::string> sure) {
  in.truth.acceptable = {{"process_or_device_unavailable", std::move(sure)}};
  if (in.plan.has(telling) && !in.plan.missing) return;
  auto& causes = in.truth.acceptable.front().causes;
  causes.insert(causes.end(), {"rank_silent", "process_exited", "node_unreachable"});
  in.truth.acceptable.push_back(kNotEntered);
  in.truth.may_be_inconclusive = true;
}

}  // namespace

base::Result<> inject_gpu_xid(Injection& in) {
  constexpr std::array<std::int32_t, 4> kFatal = {79, 119, 48, 95};
  stop_rank(in, in.culprit, nth_of_world(in));
  const std::int32_t xid = kFatal[in.random.below(kFatal.size())];
  happens(in, Happening::Kind::kXid, xid);
  in.truth.description = fmt::format("The GPU of rank {} fails (Xid {}) before the {} of the world.",
                                     in.culprit, xid, in.truth.operation);
  accept(in, kKernel, {"gpu_xid", "gpu_fallen_off_bus"});
  return {};
}

namespace {

base::Result<> need_hosts(const Injection& in) {
  if (Placement(in.plan).hosts() >= 2) return {};
  return base::fail(base::ErrorCode::kUsage, "needs at least two machines: --hosts 2 or more ranks");
}

// Those with connections over the network to this rank: the same device of the machines beside.
std::vector<std::int32_t> rail_neighbours(const Placement& place, std::int32_t rank, std::int32_t ranks) {
  std::vector<std::int32_t> out;
  for (const std::int32_t step : {-1, 1}) {
    const std::int32_t hosts = place.hosts();
    const std::int32_t host = (place.host_of(rank) + step + hosts) % hosts;
    const std::int32_t peer = host * place.ranks_per_host() + place.device_of(rank);
    const bool known = std::find(out.begin(), out.end(), peer) != out.end();
    if (peer < ranks && peer != rank && !known) out.push_back(peer);
  }
  return out;
}

void give_up(Injection& in, std::int32_t rank, std::int32_t peer) {
  in.truth.happenings.push_back({.kind = Happening::Kind::kRetryExceeded, .rank = rank, .peer = peer});
}

// What the end of the culprit's process does to others: torchrun ends those of its machine, or adapters of
// others find nobody behind their connections, or nothing.
void consequences(Injection& in) {
  const Placement place(in.plan);
  if (place.hosts() < 2) return;
  const std::size_t drawn = in.random.below(4);
  if (drawn == 0) {
    for (const std::int32_t rank : place.ranks_on(place.host_of(in.culprit))) {
      if (rank == in.culprit) continue;
      in.truth.happenings.push_back({.kind = Happening::Kind::kClosed, .rank = rank, .peer = in.culprit});
      in.job.control(rank).silent = true;
      // All of them are gone; without logs nobody can say who was first.
      if (in.plan.missing) in.truth.culprits.push_back(rank);
    }
    in.truth.culprits_exact = !in.plan.missing;
  } else if (drawn == 1) {
    for (const std::int32_t peer : rail_neighbours(place, in.culprit, in.plan.ranks))
      give_up(in, peer, in.culprit);
  }
}

void stall_world(Injection& in) {
  const Program& program = in.job.program(in.culprit);
  const std::size_t index = program.find(Role::kWorldTail, in.fault_begin(), nth_of_world(in)).value();
  const auto before = program.works.begin() + static_cast<std::ptrdiff_t>(index);
  const std::int64_t nth = 1 + std::count_if(program.works.begin(), before,
                                             [](const Work& work) { return work.slot == Slot::kWorld; });
  in.job.stall(in.layout().group_of(in.culprit, Slot::kWorld), nth);
  in.shows_at(Slot::kWorld, index);
  in.truth.injected = {in.culprit};
}

// A network fault: machines may be named, and their ranks.
void blame_hosts(Injection& in, std::vector<std::int32_t> hosts, std::vector<std::string> causes) {
  std::sort(hosts.begin(), hosts.end());
  const Placement place(in.plan);
  in.truth.culprit_hosts = hosts;
  in.truth.host_suffices = true;
  in.truth.culprits_exact = false;
  in.truth.culprits.clear();
  for (const std::int32_t host : hosts) {
    const auto ranks = place.ranks_on(host);
    in.truth.culprits.insert(in.truth.culprits.end(), ranks.begin(), ranks.end());
  }
  if (!in.plan.has(kLogs) || in.plan.missing) causes.clear();
  in.truth.acceptable = {{"transport_stall", std::move(causes)}};
}

}  // namespace

base::Result<> inject_oom_killed(Injection& in) {
  stop_rank(in, in.culprit, nth_of_world(in));
  in.job.control(in.culprit).silent = true;
  happens(in, Happening::Kind::kOutOfMemory);
  consequences(in);
  in.truth.description =
      fmt::format("The kernel kills the process of rank {} for lack of memory before the {} of the world.",
                  in.culprit, in.truth.operation);
  accept(in, kKernel, {"oom_killed"});
  return {};
}

base::Result<> inject_process_exited(Injection& in) {
  stop_rank(in, in.culprit, nth_of_world(in));
  in.job.control(in.culprit).silent = true;
  happens(in, Happening::Kind::kException);
  consequences(in);
  in.truth.description = fmt::format("Rank {} ends with an exception before the {} of the world.", in.culprit,
                                     in.truth.operation);
  accept(in, kLogs, {"process_exited", "application_error"});
  return {};
}

base::Result<> inject_link_down(Injection& in) {
  if (auto ok = need_hosts(in); !ok) return ok;
  stall_world(in);
  const Placement place(in.plan);
  happens(in, Happening::Kind::kLinkDown);
  for (const std::int32_t peer : rail_neighbours(place, in.culprit, in.plan.ranks)) {
    give_up(in, in.culprit, peer);
    give_up(in, peer, in.culprit);
  }
  in.truth.description =
      fmt::format("The link of {} on {} goes down during the {} of the world.", place.nic(in.culprit),
                  place.host_name(place.host_of(in.culprit)), in.truth.operation);
  blame_hosts(in, {place.host_of(in.culprit)}, {"link_down", "ib_retry_exceeded"});
  return {};
}

base::Result<> inject_ib_retry(Injection& in) {
  if (auto ok = need_hosts(in); !ok) return ok;
  stall_world(in);
  const Placement place(in.plan);
  const std::int32_t peer = rail_neighbours(place, in.culprit, in.plan.ranks).front();
  give_up(in, in.culprit, peer);
  give_up(in, peer, in.culprit);
  in.truth.description = fmt::format(
      "Between {} and {} nothing arrives any more, during the {} of the world.",
      place.host_name(place.host_of(in.culprit)), place.host_name(place.host_of(peer)), in.truth.operation);
  blame_hosts(in, {place.host_of(in.culprit), place.host_of(peer)}, {"ib_retry_exceeded"});
  in.truth.host_suffices = false;  // either end, or the path between them: nobody can say which
  return {};
}

base::Result<> inject_bad_host(Injection& in) {
  const Placement place(in.plan);
  if (place.hosts() < 4) {
    return base::fail(base::ErrorCode::kUsage,
                      "needs at least four machines: of fewer, two ends are as likely to be bad as the one");
  }
  stall_world(in);
  const std::int32_t bad = place.host_of(in.culprit);
  for (std::int32_t host = 0; host < place.hosts(); ++host) {
    if (host == bad) continue;
    for (const std::int32_t rank : place.ranks_on(host)) {
      const std::int32_t peer =
          std::min(bad * place.ranks_per_host() + place.device_of(rank), in.plan.ranks - 1);
      give_up(in, rank, peer);
      if (in.random.below(2) == 0) give_up(in, peer, rank);
    }
  }
  in.truth.description = fmt::format("{} is not reached by any other machine, during the {} of the world.",
                                     place.host_name(bad), in.truth.operation);
  blame_hosts(in, {bad}, {"ib_retry_exceeded", "gid_or_route", "hca_fault", "peer_unreachable"});
  return {};
}

base::Result<> inject_host_frozen(Injection& in) {
  if (auto ok = need_hosts(in); !ok) return ok;
  const Placement place(in.plan);
  const std::size_t nth = nth_of_world(in);
  const auto ranks = place.ranks_on(place.host_of(in.culprit));
  for (const std::int32_t rank : ranks) {
    stop_rank(in, rank, nth);
    in.job.control(rank).silent = true;
  }
  happens(in, Happening::Kind::kHostFrozen);
  if (in.random.below(3) == 0) {
    for (const std::int32_t rank : ranks) {
      for (const std::int32_t peer : rail_neighbours(place, rank, in.plan.ranks)) give_up(in, peer, rank);
    }
  }
  in.truth.description = fmt::format("{} freezes before the {} of the world.",
                                     place.host_name(place.host_of(in.culprit)), in.truth.operation);
  in.truth.host_suffices = true;
  in.truth.acceptable = {{"process_or_device_unavailable", {"node_unreachable", "rank_silent"}}};
  if (!in.plan.has(kRas) || in.plan.missing) {
    in.truth.acceptable.push_back(kNotEntered);
    in.truth.may_be_inconclusive = true;
  }
  return {};
}

base::Result<> inject_dataloader_blocked(Injection& in) {
  stop_rank(in, in.culprit, nth_of_world(in));
  happens(in, Happening::Kind::kDataLoader);
  in.truth.description = fmt::format("Rank {} waits for its next batch and never calls the {} of the world.",
                                     in.culprit, in.truth.operation);
  in.truth.acceptable = {{"collective_desync", {"rank_not_entered", "host_blocked"}}};
  return {};
}

base::Result<> inject_init_hang(Injection& in) {
  if (!in.plan.has(kLogs))
    return base::fail(base::ErrorCode::kUsage, "leaves nothing but logs: --sources logs");
  for (std::int32_t rank = 0; rank < in.plan.ranks; ++rank) in.job.control(rank).silent = true;
  in.job.control(in.culprit).host_stops_before = 0;
  in.truth.injected = in.truth.culprits = {in.culprit};
  happens(in, Happening::Kind::kNeverStarts);
  in.truth.description = fmt::format(
      "Rank {} never begins to make the first communicator; all others wait for it, and none has a dump.",
      in.culprit);
  in.truth.acceptable = {{"initialization_hang", {}}};
  // Without rank 0 nobody gets as far as NCCL. That it is missing shows, or that the store has no key.
  in.truth.may_be_inconclusive = in.plan.missing;
  // Of few, the log of one that never began may as well be a file that was not copied.
  in.truth.culprits_exact = in.plan.ranks >= 4;
  return {};
}

}  // namespace unhang::simulate
