// SPDX-License-Identifier: Apache-2.0
#include "simulate/ras_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/time_text.h"
#include "simulate/communicator_hash.h"
#include "simulate/random.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kDeadAfter = 60 * kSecond;
enum Counter : std::size_t { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce, kCounters };
constexpr std::array<std::string_view, kCounters> kNames = {"Broadcast", "Reduce", "AllGather",
                                                            "ReduceScatter", "AllReduce"};
using Counts = std::array<std::int64_t, kCounters>;

// nullopt: RAS does not count it.
std::optional<Counter> counter_of(model::OpKind kind) {
  switch (kind) {
    case model::OpKind::kBroadcast:
      return kBroadcast;
    case model::OpKind::kAllGather:
      return kAllGather;
    case model::OpKind::kReduceScatter:
      return kReduceScatter;
    case model::OpKind::kAllReduce:
    case model::OpKind::kBarrier:
      return kAllReduce;
    default:
      return std::nullopt;
  }
}

// Of one rank at one time.
struct Launched {
  std::array<Counts, kSlotCount> counts = {};
  std::array<bool, kSlotCount> called = {};
};

class AnswerWriter {
 public:
  AnswerWriter(const Course& course, std::int64_t at)
      : x_course(course), x_placement(course.placement()), x_at(at) {
    const auto drawn = hash({course.plan().seed, 421}) % 5;
    x_version = drawn == 0 ? "2.28.9" : drawn < 3 ? "2.29.7" : "2.30.7";
    x_forgets_comma = drawn == 0;
    for (std::int32_t rank = 0; rank < course.plan().ranks; ++rank) x_launched.push_back(launched_by(rank));
  }

  std::string write() {
    const std::int32_t asked = answering();
    if (asked < 0) return {};
    struct Comm {
      std::uint64_t hash;
      Slot slot;
      std::int32_t first;
    };
    std::vector<Comm> comms;
    for (const Slot slot : kSlots) {
      if (!x_course.job().layout().has(slot)) continue;
      for (std::int32_t rank = 0; rank < x_course.plan().ranks; ++rank) {
        const auto members = x_course.job().layout().members(rank, slot);
        if (members.front() != rank || !exists(slot, members)) continue;
        comms.push_back({communicator_hash(x_course, rank, slot), slot, rank});
      }
    }
    if (comms.empty()) return {};
    std::sort(comms.begin(), comms.end(), [](const Comm& a, const Comm& b) { return a.hash < b.hash; });
    const std::string time = base::utc_text(x_at + x_placement.clock_offset(x_placement.host_of(asked)));
    put("{{\n  \"nccl_version\": \"{}\",\n  \"cuda_runtime_version\": 12080,\n  \"cuda_driver_version\": "
        "12080,\n  \"timestamp\": \"{} {}\",\n  \"communicators_count\": {},\n  \"communicators\": [\n",
        x_version, time.substr(0, 10), time.substr(11, 8), comms.size());
    for (std::size_t i = 0; i < comms.size(); ++i) {
      communicator(comms[i].hash, comms[i].slot,
                   x_course.job().layout().members(comms[i].first, comms[i].slot));
      put("{}\n", i + 1 < comms.size() ? "," : "");
    }
    put("  ],\n  \"ras\": {{\n    \"collection_time_sec\": 0.00{},\n    \"timeouts_count\": 0\n  }}\n}}\n",
        1 + hash({x_course.plan().seed, 422}) % 8);
    return std::move(x_out);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(x_out), text, std::forward<Args>(args)...);
  }

  Launched launched_by(std::int32_t rank) const {
    Launched out;
    // The world's is made when the processes start, the others by the first call of their group.
    out.called[static_cast<std::size_t>(Slot::kWorld)] = !x_course.has(Happening::Kind::kNeverStarts);
    const Job& job = x_course.job();
    const Program& program = job.program(rank);
    for (std::size_t i = 0; i < job.called(rank) && job.times(rank, i).created <= x_at; ++i) {
      const Work& work = program.works[i];
      const auto slot = static_cast<std::size_t>(work.slot);
      out.called[slot] = true;
      if (work.is_p2p()) continue;
      for (std::uint8_t k = 0; k < work.inner; ++k) {
        const auto counter = counter_of(job.calls().spec(static_cast<CallId>(work.call + k)).kind);
        if (counter) ++out.counts[slot][*counter];
      }
    }
    return out;
  }

  bool answers(std::int32_t rank) const {
    return x_course.fate(rank) == Fate::kRuns || x_at < x_course.gone_at(rank);
  }

  // It stands when all members have come.
  bool exists(Slot slot, const std::vector<std::int32_t>& members) const {
    bool somebody = false;
    for (const std::int32_t member : members) {
      if (!x_launched[static_cast<std::size_t>(member)].called[static_cast<std::size_t>(slot)]) return false;
      somebody = somebody || answers(member);
    }
    return somebody;
  }

  std::int32_t answering() const {
    for (std::int32_t rank = 0; rank < x_course.plan().ranks; ++rank) {
      if (answers(rank)) return rank;
    }
    return -1;
  }

  void communicator(std::uint64_t number, Slot slot, const std::vector<std::int32_t>& members) {
    const auto missing = static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(), [&](std::int32_t rank) { return !answers(rank); }));
    put("    {{\n      \"hash\": \"0x{:x}\",\n      \"secondary_hash\": \"0x{:x}:0x{:x}\",\n      \"size\": "
        "{},\n      \"ranks_count\": {},\n      \"missing_ranks_count\": {},\n",
        number, hash({number, 1}), hash({number, 2}), members.size(), members.size() - missing, missing);
    put("      \"ranks\": [");
    bool first = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!answers(members[i])) continue;
      put("{}\n", first ? "" : ",");
      first = false;
      present(i, members[i],
              x_launched[static_cast<std::size_t>(members[i])].counts[static_cast<std::size_t>(slot)]);
    }
    put("\n      ],\n      \"missing_ranks\": [");
    first = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (answers(members[i])) continue;
      put("{}\n", first ? "" : ",");
      first = false;
      absent(i, members[i]);
    }
    put("\n      ]\n    }}");
  }

  void identity(std::size_t number, std::int32_t rank) {
    put("        {{\n          \"rank\": {},\n          \"host\": \"{}\",\n          \"pid\": {},\n          "
        "\"cuda_dev\": {},\n          \"nvml_dev\": {}",
        number, x_placement.address(x_placement.host_of(rank)), x_placement.pid(rank),
        x_placement.device_of(rank), x_placement.device_of(rank));
  }

  void present(std::size_t number, std::int32_t rank, const Counts& counts) {
    identity(number, rank);
    put(",\n          \"status\": {{\n            \"init_state\": 0,\n            \"async_error\": 0,\n      "
        "  "
        "    \"finalize_called\": false,\n            \"destroy_flag\": false,\n            \"abort_flag\": "
        "false\n          }},\n          \"collective_counts\": {{\n");
    for (std::size_t i = 0; i < kCounters; ++i)
      put("            \"{}\": {}{}\n", kNames[i], counts[i], i + 1 < kCounters ? "," : "");
    put("          }}\n        }}");
  }

  void absent(std::size_t number, std::int32_t rank) {
    identity(number, rank);
    put("{}\n          \"status\": {{\n            \"unresponsive\": true,\n            \"considered_dead\": "
        "{}\n          }}\n        }}",
        x_forgets_comma ? "" : ",", x_at - x_course.gone_at(rank) > kDeadAfter);
  }

  const Course& x_course;
  const Placement& x_placement;
  std::int64_t x_at;
  std::string_view x_version;
  bool x_forgets_comma = false;  // 2.28.7 to 2.28.9, where a rank is missing
  std::vector<Launched> x_launched;
  std::string x_out;
};

}  // namespace

std::string write_ras_answer(const Course& course, std::int64_t at) {
  return AnswerWriter(course, at).write();
}

}  // namespace unhang::simulate
