// SPDX-License-Identifier: Apache-2.0
#include "simulate/nccl_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "simulate/communicator_hash.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kMillisecond = 1000000;

class ProcessLines {
 public:
  ProcessLines(const Course& course, std::int32_t rank)
      : x_course(course),
        x_place(course.placement()),
        x_rank(rank),
        x_host(x_place.host_of(rank)),
        x_offset(x_place.clock_offset(x_host)) {}

  LogLines write() {
    if (x_course.has(Happening::Kind::kNeverStarts, x_rank)) return {};
    begin();
    for (const Slot slot : kSlots) communicator(slot);
    for (const Happening& what : x_course.truth().happenings) {
      if (what.kind == Happening::Kind::kRetryExceeded && what.rank == x_rank) give_up(what.peer);
    }
    std::stable_sort(x_lines.begin(), x_lines.end(),
                     [](const LogLine& a, const LogLine& b) { return a.at < b.at; });
    return std::move(x_lines);
  }

 private:
  std::string prefix(std::int32_t thread) const {
    return fmt::format("{}:{}:{} [{}]", x_place.host_name(x_host), x_place.pid(x_rank),
                       x_place.thread_id(x_rank, thread), x_place.device_of(x_rank));
  }
  void info(std::int64_t at, std::int32_t thread, const std::string& text) {
    x_lines.push_back({at, prefix(thread) + " NCCL INFO " + text});
  }
  void warn(std::int64_t at, std::int32_t thread, std::string_view where, const std::string& text) {
    x_lines.push_back({at, fmt::format("\n[{}] {} {} NCCL WARN {}", plain_time(at + x_offset), prefix(thread),
                                       where, text)});
  }

  void begin() {
    const std::int64_t at = x_course.start(x_rank);
    info(at, 0, fmt::format("Bootstrap: Using eth0:{}<0>", x_place.address(x_host)));
    info(at, 0, "cudaDriverVersion 12080");
    info(at, 0, "NCCL version 2.29.7+cuda12.8");
    std::string nics;
    const std::int32_t count = std::min(8, x_place.ranks_per_host());
    for (std::int32_t i = 0; i < count; ++i) nics += fmt::format("[{}]mlx5_{}:1/IB ", i, i);
    info(at, 1, fmt::format("NET/IB : Using {}[RO]; OOB eth0:{}<0>", nics, x_place.address(x_host)));
    info(at, 1, "Using network IB");
  }

  std::string communicator_text(Slot slot) const {
    const Layout& layout = x_course.job().layout();
    return fmt::format(
        "ncclCommInitRankConfig comm 0x{:x} rank {} nranks {} cudaDev {} nvmlDev {} busId {} commId 0x{:x}",
        0x55d0c0000000 +
            (hash({x_course.plan().seed, 441, static_cast<std::uint64_t>(x_rank)}) % 65536 << 12) +
            static_cast<std::uint64_t>(slot) * 0x1000,
        layout.rank_in_group(x_rank, slot), layout.size(slot), x_place.device_of(x_rank),
        x_place.device_of(x_rank), x_place.nccl_bus_id(x_rank), communicator_hash(x_course, x_rank, slot));
  }

  // The world's is made when the processes start, the others by the first call of their group. It stands when
  // all members have come.
  void communicator(Slot slot) {
    const Job& job = x_course.job();
    if (!job.layout().has(slot)) return;
    const std::int64_t mine = first_call(x_rank, slot);
    if (mine == 0) return;
    info(mine, 1, communicator_text(slot) + " - Init START");
    std::int64_t last = mine;
    for (const std::int32_t member : job.layout().members(x_rank, slot)) {
      const std::int64_t called = first_call(member, slot);
      if (called == 0) return;
      last = std::max(last, called);
    }
    info(last + 2 * kMillisecond, 1, communicator_text(slot) + " - Init COMPLETE");
  }

  std::int64_t first_call(std::int32_t rank, Slot slot) const {
    if (slot == Slot::kWorld) {
      // Without rank 0 nobody has the number under which the others meet.
      const bool nobody = x_course.has(Happening::Kind::kNeverStarts, 0);
      return nobody || x_course.has(Happening::Kind::kNeverStarts, rank)
                 ? 0
                 : x_course.start(rank) + kSecond / 10;
    }
    if (x_course.has(Happening::Kind::kNeverStarts)) return 0;
    const Job& job = x_course.job();
    const Program& program = job.program(rank);
    for (std::size_t i = 0; i < job.called(rank); ++i) {
      if (program.works[i].slot == slot) return job.times(rank, i).created;
    }
    return 0;
  }

  void give_up(std::int32_t peer) {
    const std::int32_t their_host = x_place.host_of(peer);
    const std::int64_t at = x_course.gives_up_on_peer(x_rank);
    const auto error = [&](std::int64_t when, std::string_view status, int vendor) {
      warn(when, 2, "transport/net_ib.cc:1911",
           fmt::format(
               "NET/IB: Got completion from peer {}<{}> with status={} opcode=IBV_WC_SEND(0) reqSize=0 "
               "vendor_err={} req_type=Send localGid ::ffff:{} remoteGids::ffff:{} hca {}",
               x_place.address(their_host), 40000 + peer, status, vendor, x_place.address(x_host),
               x_place.address(their_host), x_place.nic(x_rank)));
      info(when, 2, "transport/net.cc:1298 -> 6");
    };
    error(at, "IBV_WC_RETRY_EXC_ERR(12)", 129);
    info(at, 2, "proxy.cc:874 -> 6 [Progress Thread]");
    error(at + kMillisecond, "IBV_WC_WR_FLUSH_ERR(5)", 249);
  }

  const Course& x_course;
  const Placement& x_place;
  std::int32_t x_rank;
  std::int32_t x_host;
  std::int64_t x_offset;
  LogLines x_lines;
};

}  // namespace

LogLines nccl_lines(const Course& course, std::int32_t rank) {
  return ProcessLines(course, rank).write();
}

}  // namespace unhang::simulate
