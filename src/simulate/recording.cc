// SPDX-License-Identifier: Apache-2.0
#include "simulate/recording.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "simulate/placement.h"
#include "simulate/random.h"
#include "simulate/uneven_rows.h"

namespace unhang::simulate {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;
constexpr std::int64_t kWatchdogPeriod = 100 * kMillisecond;
constexpr std::int64_t kRecordingTime = 4 * kMicrosecond;  // between two entries of one work

// Counters of one group in one process.
struct GroupCounters {
  std::int64_t collectives = 0;
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
};

class Recorder {
 public:
  Recorder(const Job& job, const Plan& plan, std::int32_t rank)
      : x_job(job),
        x_plan(plan),
        x_rank(rank),
        x_program(job.program(rank)),
        x_gloo(job.calls().backend() == Backend::kGloo) {
    const Placement placement(plan);
    const auto number = static_cast<std::uint64_t>(rank);
    x_clock_skew = placement.clock_offset(placement.host_of(rank));
    x_watchdog_phase = static_cast<std::int64_t>(hash({job.seed(), 102, number}) % kWatchdogPeriod);
    x_dump.thread_id = std::to_string(139000000000000 + hash({job.seed(), 103, number}) % 1000000000 * 4096);
  }

  RecordedDump record() {
    groups();
    const std::size_t called = x_job.called(x_rank);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < called; ++i) total += recorded_entries(x_program.works[i]);
    x_first_kept = std::max<std::int64_t>(0, total - x_plan.entries);
    x_dump.entries.reserve(static_cast<std::size_t>(total - x_first_kept));
    for (std::size_t i = 0; i < called; ++i) record_work(i);
    config();
    status();
    return std::move(x_dump);
  }

 private:
  std::int64_t recorded_entries(const Work& work) const {
    return x_gloo && work.is_p2p() ? 0 : work.entries();
  }

  void groups() {
    x_slot_group.fill(-1);
    for (const Slot slot : kSlots) {
      if (!x_job.layout().has(slot)) continue;
      const auto local = static_cast<std::int64_t>(x_dump.groups.size());
      x_slot_group[static_cast<std::size_t>(slot)] = local;
      x_dump.groups.push_back(
          {local, std::to_string(x_job.layout().group_of(x_rank, slot)), std::string(description_of(slot))});
    }
  }

  void config() {
    std::vector<ConfiguredGroup>& out = x_dump.config;
    for (const Slot slot : kSlots) {
      const std::int64_t local = x_slot_group[static_cast<std::size_t>(slot)];
      if (local < 0) continue;
      const RecordedGroup& group = x_dump.groups[static_cast<std::size_t>(local)];
      out.push_back({group.name, group.description, x_job.layout().members(x_rank, slot)});
    }
    if (x_gloo) {  // it records a group before it knows its name: each overwrites the one before
      out = {ConfiguredGroup{"", "", out.back().ranks}};
    } else {
      x_dump.comm_lib_version = "2.27.5";
      std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    }
  }

  void status() {
    for (const RecordedGroup& group : x_dump.groups) {
      RecordedStatus status = x_status[static_cast<std::size_t>(group.pg_id)];
      status.pg_id = group.pg_id;
      if (x_gloo && status.last_enqueued < 0) continue;  // gloo lists only groups that recorded something
      x_dump.status.push_back(status);
    }
  }

  void record_work(std::size_t index) {
    const Work& work = x_program.works[index];
    x_local = static_cast<std::size_t>(x_slot_group[static_cast<std::size_t>(work.slot)]);
    GroupCounters& counters = x_counters[x_local];
    if (x_gloo && work.is_p2p()) {
      counters.operations += work.inner;
      return;
    }
    ++(work.is_p2p() ? counters.transfers : counters.collectives);
    const std::int64_t created = x_job.times(x_rank, index).created + x_clock_skew;
    const bool finished = x_job.seen_finished(x_rank, index);
    for (std::uint8_t i = 0; i < work.inner; ++i) {
      ++counters.operations;
      if (x_next_record >= x_first_kept) {
        x_timed = !work.has_closing();
        add(work, index, inner_call(work, i), created + i * kRecordingTime, finished);
      }
      ++x_next_record;
    }
    if (work.has_closing()) {
      if (x_next_record >= x_first_kept) {
        x_timed = true;
        add(work, index, call_index(work.closing_call), created + work.inner * kRecordingTime, finished);
      }
      ++x_next_record;
    }
    RecordedStatus& status = x_status[x_local];
    const std::int64_t number = x_gloo          ? counters.operations
                                : work.is_p2p() ? counters.transfers
                                                : counters.collectives;
    status.last_enqueued = number;
    if (finished) status.last_completed = number;
    if (x_plan.timing && x_job.times(x_rank, index).begun != 0) status.last_started = number;
  }

  // `x_timed`: the entry has events of its own; an entry inside a block has none and stays "scheduled".
  void add(const Work& work, std::size_t index, std::uint32_t call, std::int64_t created, bool finished) {
    finished = finished && x_timed;
    if (x_plan.only_active && finished) return;
    const GroupCounters& counters = x_counters[x_local];
    const WorkTimes& times = x_job.times(x_rank, index);
    RecordedEntry entry;
    entry.stack = stack_index(work.site);
    entry.group = static_cast<std::uint32_t>(x_local);
    entry.call = call;
    entry.retired = finished;
    entry.record_id = x_next_record;
    entry.collective_sequence = counters.collectives;
    entry.p2p_sequence = counters.transfers;
    entry.op_id = counters.operations;
    entry.created_ns = created;
    entry.timeout_ms = x_gloo ? 1800000 : 600000;
    if (!x_gloo) {
      if (finished) {
        entry.state = RecordedState::kCompleted;
        entry.completed_ns = noticed(times.finished, index);
      }
      if (x_plan.timing && x_timed && times.begun != 0) {
        if (!finished) entry.state = RecordedState::kStarted;
        entry.started_ns = noticed(times.begun, index);
        if (finished) entry.duration_ms = static_cast<double>(times.finished - times.begun) / kMillisecond;
      }
    }
    x_dump.entries.push_back(entry);
  }

  // The watchdog looks at its list once in a period, one work after the other.
  std::int64_t noticed(std::int64_t happened, std::size_t index) const {
    const std::int64_t since = (happened - x_watchdog_phase) % kWatchdogPeriod;
    return happened - since + kWatchdogPeriod + static_cast<std::int64_t>(index % 256) * kMicrosecond +
           x_clock_skew;
  }

  std::uint32_t inner_call(const Work& work, std::uint8_t i) {
    if (work.is_p2p()) return call_index(x_program.end_calls[static_cast<std::size_t>(work.ends[i])]);
    const auto call = static_cast<CallId>(work.call + i);
    const CallSpec& spec = x_job.calls().spec(call);
    if (!spec.uneven) return call_index(call);
    const UnevenRows rows =
        uneven_rows(x_job, x_rank, work.slot, x_counters[x_local].collectives, spec.shape.front());
    return call_index(call, rows.in, rows.out);
  }

  std::uint32_t call_index(CallId call, std::int64_t rows_in = 0, std::int64_t rows_out = 0) {
    const auto [place, fresh] =
        x_calls.try_emplace({call, rows_in, rows_out}, static_cast<std::uint32_t>(x_dump.calls.size()));
    if (fresh) x_dump.calls.push_back(x_job.calls().recorded(call, rows_in, rows_out));
    return place->second;
  }

  std::int32_t stack_index(Site site) {
    if (x_plan.frames == 0) return RecordedEntry::kNoStack;
    std::int32_t& known = x_site_stack[static_cast<std::size_t>(site)];
    if (known == 0) {
      std::vector<std::uint32_t> stack;
      for (const RecordedFrame& frame : stack_of(site, x_plan.frames)) stack.push_back(frame_index(frame));
      x_dump.stacks.push_back(std::move(stack));
      known = static_cast<std::int32_t>(x_dump.stacks.size());
    }
    return known - 1;
  }

  std::uint32_t frame_index(const RecordedFrame& frame) {
    const auto [place, fresh] = x_frames.try_emplace({frame.name, frame.filename, frame.line},
                                                     static_cast<std::uint32_t>(x_dump.frames.size()));
    if (fresh) x_dump.frames.push_back(frame);
    return place->second;
  }

  const Job& x_job;
  const Plan& x_plan;
  std::int32_t x_rank;
  const Program& x_program;
  bool x_gloo;
  std::int64_t x_clock_skew = 0;
  std::int64_t x_watchdog_phase = 0;

  RecordedDump x_dump;
  std::array<std::int64_t, kSlotCount> x_slot_group = {};  // pg_id; -1: no such group
  std::array<GroupCounters, kSlotCount> x_counters = {};   // by pg_id
  std::array<RecordedStatus, kSlotCount> x_status = {};    // by pg_id
  std::array<std::int32_t, kSiteCount> x_site_stack = {};  // index + 1; 0: not yet
  std::map<std::tuple<CallId, std::int64_t, std::int64_t>, std::uint32_t> x_calls;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::uint32_t> x_frames;
  std::size_t x_local = 0;  // pg_id of the work being recorded
  bool x_timed = true;
  std::int64_t x_next_record = 0;
  std::int64_t x_first_kept = 0;
};

}  // namespace

RecordedDump record(const Job& job, const Plan& plan, std::int32_t rank) {
  return Recorder(job, plan, rank).record();
}

}  // namespace unhang::simulate
