// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "simulate/course.h"
#include "simulate/dump_writer.h"
#include "simulate/evidence.h"
#include "simulate/fault.h"
#include "simulate/job.h"
#include "simulate/recording.h"

namespace unhang::simulate {
namespace {

constexpr std::int32_t kMostRanks = 65536;
constexpr std::int32_t kMostEntries = 1 << 20;
constexpr std::int64_t kMostCalls = std::int64_t{1} << 26;  // 1.6 GB of times
constexpr std::int32_t kMostFrames = 64;
constexpr std::int64_t kFewestSteps = 3;
constexpr std::int64_t kMostSkew = 86400000000000;  // a day

base::Result<> check_range(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return base::fail(base::ErrorCode::kUsage,
                    fmt::format("{} {}: must be from {} to {}", what, value, least, most));
}

base::Result<Backend> backend_of(const Plan& plan) {
  if (plan.backend == "nccl") return Backend::kNccl;
  if (plan.backend != "gloo") {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("backend \"{}\": must be nccl or gloo", plan.backend));
  }
  if (plan.only_active) {
    return base::fail(base::ErrorCode::kUsage,
                      "gloo marks no operation as finished: only-active needs the backend nccl");
  }
  if (plan.timing)
    return base::fail(base::ErrorCode::kUsage,
                      "gloo records no times of its operations: timing needs the backend nccl");
  return Backend::kGloo;
}

base::Result<> check(const Plan& plan) {
  for (auto ok :
       {check_range("ranks", plan.ranks, 2, kMostRanks),
        check_range("entries", plan.entries, 1, kMostEntries),
        check_range("frames", plan.frames, 0, kMostFrames), check_range("steps", plan.steps, 0, kMostEntries),
        check_range("hosts", plan.hosts, 0, plan.ranks),
        check_range("skew (ns)", plan.skew_ns, 0, kMostSkew)}) {
    if (!ok) return ok;
  }
  if (plan.culprit && (*plan.culprit < 0 || *plan.culprit >= plan.ranks)) {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("culprit {}: the job has ranks 0 to {}", *plan.culprit, plan.ranks - 1));
  }
  if (plan.sources == 0 || (plan.sources & ~kAllSources) != 0)
    return base::fail(base::ErrorCode::kUsage, "no evidence asked for: give at least one source");
  if (plan.backend == "gloo" && plan.sources != kFlightRecorder) {
    return base::fail(base::ErrorCode::kUsage,
                      "gloo has neither RAS nor NCCL's logs: other sources than dumps need the backend nccl");
  }
  if (plan.file_prefix.find('/') != std::string::npos) {
    return base::fail(base::ErrorCode::kUsage,
                      fmt::format("file prefix \"{}\": must not name a folder", plan.file_prefix));
  }
  return {};
}

// Enough for the ring of the rank with the fewest calls to be filled and to turn by a quarter.
std::int64_t steps_for(const Plan& plan, const Layout& layout, Backend backend) {
  if (plan.steps > 0) return plan.steps;
  std::int64_t fewest = 0;
  CallTable calls(backend);
  for (std::int32_t stage = 0; stage < layout.pipeline(); ++stage) {
    const Program program = build_program(layout, stage, 1, calls);
    std::int64_t entries = 0;
    for (std::size_t i = program.setup_size; i < program.works.size(); ++i) {
      const Work& work = program.works[i];
      if (backend == Backend::kNccl || !work.is_p2p()) entries += work.entries();
    }
    fewest = stage == 0 ? entries : std::min(fewest, entries);
  }
  return std::max(kFewestSteps, (plan.entries + plan.entries / 4) / fewest + 2);
}

std::string encode(const RecordedDump& dump, const Plan& plan) {
  return plan.format == DumpFormat::kJson ? write_json(dump) : write_pickle(dump);
}

base::Result<> write_dumps(const Course& course, const LostPieces& lost_pieces, const WriteFile& write,
                           std::vector<std::string>& lost) {
  const Plan& plan = course.plan();
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
    const RankControl& control = course.job().control(rank);
    if (control.silent) continue;
    const std::string name =
        plan.file_prefix + std::to_string(rank) + (plan.format == DumpFormat::kJson ? ".json" : "");
    if (lost_pieces.dump(rank)) {
      lost.push_back(name);
      continue;
    }
    std::string bytes = encode(record(course.job(), plan, rank), plan);
    if (control.truncated) bytes.resize(bytes.size() * (40 + hash({plan.seed, 301}) % 45) / 100);
    if (auto written = write(name, bytes); !written) return written;
  }
  return {};
}

}  // namespace

base::Result<Truth> simulate(const Plan& plan, const WriteFile& write) {
  if (auto ok = check(plan); !ok) return base::fail(ok.error());
  const auto backend = backend_of(plan);
  if (!backend) return base::fail(backend.error());
  const auto layout = Layout::make(plan.ranks, plan.tp, plan.pp);
  if (!layout) return base::fail(layout.error());
  const std::int64_t steps = steps_for(plan, *layout, *backend);
  CallTable probe(*backend);
  const std::int64_t calls =
      static_cast<std::int64_t>(build_program(*layout, 0, 1, probe).step_size) * steps * plan.ranks;
  if (calls > kMostCalls) {
    return base::fail(
        base::ErrorCode::kUsage,
        fmt::format("{} ranks with {} entries: too large a job to simulate ({} calls, at most {})",
                    plan.ranks, plan.entries, calls, kMostCalls));
  }
  Job job(*layout, *backend, static_cast<std::size_t>(steps), plan.seed);
  auto truth = inject(job, plan);
  if (!truth) return truth;
  if (plan.only_active && truth->acceptable.front().category == "healthy") truth->may_be_inconclusive = true;
  job.run();
  for (std::int32_t rank = 0; rank < plan.ranks; ++rank) {
    if (job.control(rank).silent) truth->without_dump.push_back(rank);
  }
  const Course course(job, plan, *truth);
  const LostPieces lost(course);
  if (plan.has(kFlightRecorder)) {
    if (auto written = write_dumps(course, lost, write, truth->lost); !written)
      return base::fail(written.error());
  }
  if (auto written = write_evidence(course, lost, write, truth->lost); !written)
    return base::fail(written.error());
  truth->complete = truth->lost.empty();
  if (auto written = write("truth.json", to_json(*truth)); !written) return base::fail(written.error());
  return truth;
}

}  // namespace unhang::simulate
