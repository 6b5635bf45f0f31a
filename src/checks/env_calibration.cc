// SPDX-License-Identifier: Apache-2.0
#include "checks/env_calibration.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/duration.h"

namespace unhang::checks {
namespace {

using model::EnvPlan;

constexpr double kHeadroom = 1.5;  // bursts: a step's calls come together, not evenly
constexpr std::int64_t kStep = 500;
constexpr std::int64_t kLeastRing = 2000;    // PyTorch's default; it costs less than a megabyte
constexpr std::int64_t kMostRing = 500'000;  // a dump of a quarter of a gigabyte for each rank
constexpr std::int64_t kQuickRing = 20'000;  // stacks of more are not resolved within 15 s for sure
// Measured on dumps of PyTorch 2.14 (format 2.10): large ones share their frames.
constexpr double kLeastEntry = 170, kMostEntry = 510;
// NCCL's "AllReduce: opCount … stream 0x…" lines in logs of 2.18 to 2.21 are 192 to 205 bytes long, with the
// host, process and thread in front.
constexpr double kLogLine = 200;
constexpr double kTimeStamp = 29;                                // "[2026-11-30 10:51:23.123456] "
constexpr std::int64_t kQuickWait = 15'000, kLongWait = 60'000;  // ms: PyTorch's defaults, new and old

struct Basis {
  double recorder = 0;  // entries a second
  double nccl = 0;      // calls a second that NCCL sees
};

std::string bytes_words(double bytes) {
  constexpr double kThousand = 1000;
  if (bytes < kThousand * kThousand) return fmt::format("{:.0f} kB", std::ceil(bytes / kThousand));
  if (bytes < kThousand * kThousand * kThousand)
    return fmt::format("{:.1f} MB", bytes / kThousand / kThousand);
  return fmt::format("{:.1f} GB", bytes / kThousand / kThousand / kThousand);
}

std::string rate_words(const CollectiveRate& rate) {
  return fmt::format("{}: {} calls in {:.1f} s, {:.1f} a second", rate.who, rate.calls, rate.seconds,
                     rate.per_second);
}

std::optional<Basis> basis_of(const CollectiveRates& rates, const CalibrationOptions& options,
                              EnvPlan& plan) {
  if (options.rate) {
    plan.notes.push_back(fmt::format("Rate: {:.1f} calls a second of one rank, as given.", *options.rate));
    return Basis{*options.rate, *options.rate};
  }
  Basis basis;
  if (const CollectiveRate* rank = fastest(rates.ranks)) {
    basis.recorder = basis.nccl = rank->per_second;
    plan.notes.push_back(fmt::format("Rate by the Flight Recorder, of the busiest of {} ranks: {}.",
                                     rates.ranks.size(), rate_words(*rank)));
    if (const CollectiveRate* group = fastest(rates.groups); group != nullptr && rates.groups.size() > 1) {
      plan.notes.push_back(
          fmt::format("The ring is shared by all groups of a process; the busiest of {} is {}.",
                      rates.groups.size(), rate_words(*group)));
    }
  }
  if (const CollectiveRate* process = fastest(rates.processes)) {
    basis.nccl = std::max(basis.nccl, process->per_second);
    plan.notes.push_back(fmt::format(
        "Rate by RAS, of the busiest of {} processes: {}. It counts five kinds of collectives, no transfers "
        "and no replays of CUDA graphs.",
        rates.processes.size(), rate_words(*process)));
  }
  if (const CollectiveRate* log = fastest(rates.logs)) {
    basis.nccl = std::max(basis.nccl, log->per_second);
    plan.notes.push_back(fmt::format("Rate by NCCL's log: {}.", rate_words(*log)));
  }
  if (basis.recorder == 0) {
    if (basis.nccl == 0) return std::nullopt;
    basis.recorder = basis.nccl;
    plan.notes.push_back(
        "No dump is among the evidence: the ring is made for NCCL's rate. The recorder sees PyTorch's own "
        "groups only, so it may be larger than needed.");
  }
  return basis;
}

std::int64_t ring_for(double rate, double seconds, EnvPlan& plan) {
  const double needed = std::ceil(rate * seconds * kHeadroom);
  const double rounded = std::ceil(needed / static_cast<double>(kStep)) * static_cast<double>(kStep);
  const auto ring = static_cast<std::int64_t>(
      std::clamp(rounded, static_cast<double>(kLeastRing), static_cast<double>(kMostRing)));
  plan.notes.push_back(
      fmt::format("Ring: {:.1f} a second x {} s x {} for bursts = {:.0f} entries; {} are set.", rate,
                  fmt::format("{:g}", seconds), kHeadroom, needed, ring));
  if (rounded > static_cast<double>(kMostRing)) {
    plan.notes.push_back(fmt::format("More than {} entries are not sensible: they reach back {:.1f} s.",
                                     kMostRing, static_cast<double>(kMostRing) / rate / kHeadroom));
  } else if (rate > 0) {
    plan.notes.push_back(
        fmt::format("It then reaches back {:.0f} s at that rate.", static_cast<double>(ring) / rate));
  }
  const double entries = static_cast<double>(ring);
  plan.notes.push_back(fmt::format(
      "A full dump is {} to {} for each rank, at {:.0f} to {:.0f} bytes an entry.",
      bytes_words(entries * kLeastEntry), bytes_words(entries * kMostEntry), kLeastEntry, kMostEntry));
  return ring;
}

void limits(const CollectiveRates& rates, std::int64_t wait_ms, EnvPlan& plan) {
  constexpr double kLeastLimit = 60, kTimes = 10, kRound = 30, kPatience = 30;
  const double wait = static_cast<double>(wait_ms) / 1000;
  if (rates.longest_pause <= 0) {
    plan.notes.push_back(fmt::format(
        "Time limits: a process group's (600 s, set in code), then {:.0f} s for the dump. An engine's own "
        "limit should be longer than both together: {:.0f} s.",
        wait, 600 + wait + kPatience));
    return;
  }
  const double limit = std::ceil(std::max(kLeastLimit, kTimes * rates.longest_pause) / kRound) * kRound;
  plan.notes.push_back(fmt::format(
      "Time limits: the longest pause between two calls of a rank was {:.1f} s. Ten times that, and {:.0f} s "
      "at least, is {:.0f} s: a process group's limit should not be below it, nor below pauses that these "
      "dumps do not show (loading, compilation, checkpoints). No variable sets it: "
      "init_process_group(timeout=timedelta(seconds={:.0f})). Dumps of a stall make it too long.",
      rates.longest_pause, kLeastLimit, limit, limit));
  plan.notes.push_back(
      fmt::format("An engine's own limit should be longer than that and the {:.0f} s for the dump: {:.0f} s.",
                  wait, limit + wait + kPatience));
}

void log_volume(double rate, const Software& software, EnvPlan& plan) {
  constexpr double kHour = 3600, kDay = 86'400;
  const double line = kLogLine + (software.nccl_since(26) ? kTimeStamp : 0);
  plan.notes.push_back(
      fmt::format("Logs: NCCL_DEBUG_SUBSYS with COLL writes a line of about {:.0f} bytes for each call: {} "
                  "an hour and {} a "
                  "day for each rank. Without it the log grows only when the job starts.",
                  line, bytes_words(rate * line * kHour), bytes_words(rate * line * kDay)));
}

}  // namespace

std::optional<EnvPlan> calibration_plan(const CollectiveRates& rates, const CalibrationOptions& options) {
  EnvPlan plan;
  plan.title = "The Flight Recorder's ring, time limits and logs, from the rate of collectives.";
  plan.notes.push_back("Made " + words_of(options.software) + ".");
  const auto basis = basis_of(rates, options, plan);
  if (!basis) return std::nullopt;
  const double seconds = std::chrono::duration<double>(options.window).count();
  const std::int64_t ring = ring_for(basis->recorder, seconds, plan);
  const bool long_wait = ring > kQuickRing;
  const Software& software = options.software;
  limits(rates, long_wait ? kLongWait : kQuickWait, plan);
  log_volume(basis->nccl, software, plan);

  const std::string size = std::to_string(ring);
  const std::string reason =
      fmt::format("{} of history at the measured rate.", base::format_duration(options.window));
  if (software.torch_since(8)) plan.settings.push_back({"TORCH_FR_BUFFER_SIZE", size, reason, false});
  plan.settings.push_back({"TORCH_NCCL_TRACE_BUFFER_SIZE", size,
                           software.torch_since(8) ? "The same by its old name: the FIFO needs it." : reason,
                           false});
  plan.settings.push_back(
      {software.torch_since(15) ? "TORCH_FR_DUMP_ON_TIMEOUT" : "TORCH_NCCL_DUMP_ON_TIMEOUT", "1",
       "Without it nothing is written down.", false});
  if (long_wait || !software.torch_since(4)) {
    plan.settings.push_back({software.torch_since(15) ? "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC"
                                                      : "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC",
                             std::to_string(long_wait ? kLongWait : kQuickWait),
                             "So long a ring takes more than 15 s to be written.", false});
    if (!long_wait) plan.settings.back().reason = "The default of this release, 2 s, is too short.";
  }
  if (long_wait) {
    plan.settings.push_back({"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "480",
                             "Twice what the watchdog waits for a dump (four times the limit above).",
                             false});
  }
  return plan;
}

}  // namespace unhang::checks
