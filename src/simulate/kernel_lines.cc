// SPDX-License-Identifier: Apache-2.0
#include "simulate/kernel_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "simulate/log_line.h"
#include "simulate/random.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kMillisecond = 1000000;
constexpr std::int64_t kDay = 86400 * kSecond;

constexpr std::array<std::string_view, 8> kNoise = {
    "audit: type=1400 audit(1795950000.101:88): apparmor=\"STATUS\" operation=\"profile_load\" "
    "name=\"docker-default\"",
    "systemd[1]: Started Daily apt download activities.",
    "EXT4-fs (nvme0n1p2): re-mounted. Quota mode: none.",
    "docker0: port 1(veth4b1c2a0) entered blocking state",
    "perf: interrupt took too long (2514 > 2500), lowering kernel.perf_event_max_sample_rate to 79500",
    "nvidia-uvm: Loaded the UVM driver, major device number 508.",
    "usb 1-14: new high-speed USB device number 4 using xhci_hcd",
    "TCP: eth0: Driver has suspect GRO implementation, TCP performance may be compromised.",
};

enum class Clock : std::uint8_t { kWall, kIso, kUptime };

constexpr std::array<std::string_view, 7> kWeekdays = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

class KernelLog {
 public:
  KernelLog(const Course& course, std::int32_t host)
      : x_course(course), x_place(course.placement()), x_host(host), x_offset(x_place.clock_offset(host)) {
    const auto number = static_cast<std::uint64_t>(host);
    const auto drawn = hash({course.plan().seed, 461}) % 4;
    x_clock = drawn < 2 ? Clock::kWall : drawn == 2 ? Clock::kIso : Clock::kUptime;
    x_boot = course.stall_start() - kDay -
             static_cast<std::int64_t>(hash({course.plan().seed, 462, number}) % 40) * kDay;
  }

  std::string write() {
    noise();
    for (const Happening& what : x_course.truth().happenings) {
      if (x_place.host_of(what.rank) == x_host) happened(what);
    }
    std::stable_sort(x_lines.begin(), x_lines.end(),
                     [](const LogLine& a, const LogLine& b) { return a.at < b.at; });
    std::string out;
    for (const LogLine& line : x_lines) out += stamp(line.at) + line.text + "\n";
    return out;
  }

 private:
  void add(std::int64_t at, std::string text) { x_lines.push_back({at, std::move(text)}); }

  // Over the hours before, and after the stall as well.
  void noise() {
    const auto host = static_cast<std::uint64_t>(x_host);
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto drawn = hash({x_course.plan().seed, 463, host, i});
      const std::int64_t back = static_cast<std::int64_t>(drawn % 7200) - 300;
      add(x_course.stall_start() - back * kSecond - static_cast<std::int64_t>(drawn % 997) * kMillisecond,
          std::string(kNoise[drawn / 7 % kNoise.size()]));
    }
  }

  void happened(const Happening& what) {
    switch (what.kind) {
      case Happening::Kind::kXid:
        return xid(what);
      case Happening::Kind::kOutOfMemory:
        return out_of_memory(what.rank);
      case Happening::Kind::kLinkDown:
        return link_down(what.rank);
      default:
        return;
    }
  }

  void xid(const Happening& what) {
    const std::int64_t at = x_course.last_sign(what.rank) + 2 * kMillisecond;
    const std::string bus = x_place.bus_id(what.rank);
    std::string rest = fmt::format("pid={}, name=python3, ", x_place.pid(what.rank));
    switch (what.code) {
      case 79:
        rest += "GPU has fallen off the bus.";
        break;
      case 119:
        rest +=
            "Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 "
            "(GSP_RM_CONTROL) (0x20803032 0x590).";
        break;
      case 48:
        rest += "DBE (double bit error) ECC Error";
        break;
      default:
        rest += "Uncontained: LTC TEX (0x2,0x0). RST: Yes, D-RST: No";
        break;
    }
    add(at, fmt::format("NVRM: GPU at PCI:{}: GPU-{:08x}-{:04x}-4b1e-9c02-{:012x}", bus,
                        hash({x_course.plan().seed, 464}) >> 32, hash({x_course.plan().seed, 465}) & 0xffff,
                        hash({x_course.plan().seed, 466}) >> 16));
    add(at, fmt::format("NVRM: Xid (PCI:{}): {}, {}", bus, what.code, rest));
    if (what.code != 79) return;
    add(at + kMillisecond, fmt::format("NVRM: GPU {}.0: GPU has fallen off the bus.", bus));
    add(at + 40 * kMillisecond,
        fmt::format(
            "NVRM: Xid (PCI:{}): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot "
            "Required)",
            bus));
  }

  void out_of_memory(std::int32_t rank) {
    const std::int64_t at = x_course.gone_at(rank) - 3 * kMillisecond;
    const std::int64_t pid = x_place.pid(rank);
    add(at, "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    add(at,
        fmt::format("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_4711,mems_allowed=0-1,"
                    "oom_memcg=/slurm/uid_1000/job_4711,task_memcg=/slurm/uid_1000/job_4711/step_0,"
                    "task=python3,pid={},uid=1000",
                    pid));
    add(at,
        fmt::format("Memory cgroup out of memory: Killed process {} (python3) total-vm:214748364kB, "
                    "anon-rss:119537664kB, file-rss:71232kB, shmem-rss:12288kB, UID:1000 pgtables:241408kB "
                    "oom_score_adj:0",
                    pid));
    add(at + 900 * kMillisecond, fmt::format("oom_reaper: reaped process {} (python3), now anon-rss:0kB, "
                                             "file-rss:0kB, shmem-rss:12288kB",
                                             pid));
  }

  void link_down(std::int32_t rank) {
    const std::int64_t at = x_course.stall_start() - 150 * kMillisecond;
    const std::string nic = x_place.nic(rank);
    add(at, fmt::format("mlx5_core 0000:{:02x}:00.0 {}: Port: 1 Link DOWN",
                        0x18 + x_place.device_of(rank) % 8 * 0x11, nic));
  }

  std::string stamp(std::int64_t at) const {
    const std::int64_t shown = at + x_offset;
    const std::string utc = base::utc_text(shown);
    switch (x_clock) {
      case Clock::kWall: {
        const auto month = static_cast<std::size_t>(std::atoi(utc.substr(5, 2).c_str()) - 1);
        return fmt::format("[{} {} {:>2} {} {}] ", kWeekdays[static_cast<std::size_t>(shown / kDay % 7)],
                           kMonths[month], std::atoi(utc.substr(8, 2).c_str()), utc.substr(11, 8),
                           utc.substr(0, 4));
      }
      case Clock::kIso:
        return fmt::format("{},{}+00:00 ", utc.substr(0, 19), utc.substr(20, 6));
      case Clock::kUptime:
        break;
    }
    const std::int64_t up = at - x_boot;
    return fmt::format("[{:>5}.{:06}] ", up / kSecond, up % kSecond / 1000);
  }

  const Course& x_course;
  const Placement& x_place;
  std::int32_t x_host;
  std::int64_t x_offset;
  Clock x_clock = Clock::kWall;
  std::int64_t x_boot = 0;
  LogLines x_lines;
};

}  // namespace

std::string kernel_log(const Course& course, std::int32_t host) {
  return KernelLog(course, host).write();
}

}  // namespace unhang::simulate
