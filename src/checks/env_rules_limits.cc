// SPDX-License-Identifier: Apache-2.0
//
// Time limits: whoever ends the process first must leave evidence, so the others have to wait longer.
#include <cmath>

#include "base/duration.h"
#include "checks/env_rules.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;
using std::chrono::nanoseconds;
using std::chrono::seconds;

bool has_watchdog(const EnvSubject& subject) {
  return subject.software.engine != Engine::kTrtllm && subject.software.torch_since(2) &&
         !waits_blocking(subject);
}

const Variable* limit(const EnvSubject& subject, std::string_view new_name) {
  return find_under_any_name(subject.environment, subject.software, new_name);
}

std::vector<std::string> places(std::initializer_list<const Variable*> variables) {
  std::vector<std::string> out;
  for (const Variable* variable : variables) {
    if (variable != nullptr) out.push_back(variable->where);
  }
  return out;
}

std::int64_t seconds_of(nanoseconds value) {
  return std::chrono::duration_cast<seconds>(value).count();
}

// After a time-out the watchdog waits four times the dump's limit before it throws; the monitor must not end
// the process for that silence.
Outcomes heartbeat(const EnvSubject& subject) {
  const Variable* beat = limit(subject, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC");
  const Variable* wait = limit(subject, "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC");
  if (!has_watchdog(subject) || (beat == nullptr && wait == nullptr)) return not_applicable();
  const std::int64_t needed = 4 * dump_wait_ms(subject) / 1000, given = heartbeat_seconds(subject);
  if (given > needed) return passed();
  return {{Status::kFail,
           "the monitor ends the process after " + std::to_string(given) +
               " s of silence, and writing a dump may take " + std::to_string(needed) + " s",
           set_line(subject, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
                    std::to_string(std::max<std::int64_t>(480, 2 * needed))),
           places({beat, wait})}};
}

Outcomes dump_wait(const EnvSubject& subject) {
  if (!has_watchdog(subject) || !dumps_on_timeout(subject) || ring_size(subject) <= 0)
    return not_applicable();
  constexpr std::int64_t kLeast = 10'000;  // stacks of 2000 entries are resolved by then
  const std::int64_t wait = dump_wait_ms(subject);
  if (wait >= kLeast) return passed();
  return {{Status::kWarn, "a dump gets only " + std::to_string(wait) + " ms before the process ends",
           set_line(subject,
                    subject.software.torch_since(15) ? "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC"
                                                     : "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC",
                    "15000"),
           places({limit(subject, "TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC")})}};
}

Outcomes poll(const EnvSubject& subject) {
  const Variable* check = limit(subject, "TORCH_NCCL_COORD_CHECK_MILSEC");
  if (check == nullptr || !check->known || !has_watchdog(subject)) return not_applicable();
  const auto milliseconds = integer_of(check->value);
  if (!milliseconds) return not_applicable();
  constexpr std::int64_t kMost = 5'000;
  if (*milliseconds > 0 && *milliseconds <= kMost) return passed();
  return {
      about(*milliseconds > 0 ? Status::kWarn : Status::kFail, *check,
            shown(*check) + ": other ranks hear of a time-out, and the FIFO is looked at, only that often",
            set_line(subject, check->name, "1000"))};
}

// The engine's own limit for one step. When it comes first the workers are gone before PyTorch dumps.
Outcomes engine_first(const EnvSubject& subject) {
  const Variable* step = subject.environment.find("VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS");
  if (subject.software.engine != Engine::kVllm && step == nullptr) return not_applicable();
  constexpr std::int64_t kDefault = 300;  // vllm/envs.py
  const std::int64_t engine =
      step != nullptr ? (step->known ? integer_of(step->value).value_or(kDefault) : kDefault) : kDefault;
  const std::int64_t needed = seconds_of(subject.collective_timeout) + dump_wait_ms(subject) / 1000;
  if (engine > needed) return passed();
  if (subject.environment.has("TORCH_NCCL_DEBUG_INFO_PIPE_FILE"))
    return passed("the engine gives up first, after " + std::to_string(engine) +
                  " s, and the FIFO can bring a dump before");
  const int patient = 30;
  return {{Status::kWarn,
           "vLLM gives up after " + std::to_string(engine) + " s, PyTorch dumps after " +
               std::to_string(needed) + " s: the workers are gone by then",
           set_line(subject, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "/var/log/nccl/fr_pipe_") + "\n" +
               set_line(subject, "TORCH_NCCL_TRACE_BUFFER_SIZE", "2000") + "\n# or let it wait: " +
               "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=" + std::to_string(needed + patient),
           places({step})}};
}

Outcomes rpc_unit(const EnvSubject& subject) {
  const Variable* rpc = subject.environment.find("VLLM_RPC_TIMEOUT");
  if (rpc == nullptr || !rpc->known) return not_applicable();
  const auto value = integer_of(rpc->value);
  constexpr std::int64_t kSecondsLook = 1000;
  if (!value || *value >= kSecondsLook) return passed();
  return {about(Status::kWarn, *rpc, shown(*rpc) + ": it is in milliseconds, which makes this less than 1 s",
                set_line(subject, rpc->name, std::to_string(*value * 1000)))};
}

// InfiniBand's specification: one try takes 4.096 us x 2^timeout; NCCL tries NCCL_IB_RETRY_CNT (7) times.
Outcomes ib_timeout(const EnvSubject& subject) {
  const Variable* timeout = subject.environment.find("NCCL_IB_TIMEOUT");
  const Variable* retries = subject.environment.find("NCCL_IB_RETRY_CNT");
  if (timeout == nullptr && retries == nullptr) return not_applicable();
  constexpr std::int64_t kDefaultRetries = 7, kMostTimeout = 31, kMostRetries = 7;
  const std::int64_t by_default = subject.software.nccl_since(23) ? 20 : 18;
  const auto number = [](const Variable* variable, std::int64_t otherwise) {
    return variable != nullptr && variable->known ? integer_of(variable->value).value_or(otherwise)
                                                  : otherwise;
  };
  const std::int64_t exponent = number(timeout, by_default), count = number(retries, kDefaultRetries);
  if (exponent < 1 || exponent > kMostTimeout) {
    return {{Status::kFail,
             "NCCL_IB_TIMEOUT=" + std::to_string(exponent) + ": it is an exponent from 1 to 31",
             set_line(subject, "NCCL_IB_TIMEOUT", std::to_string(by_default)), places({timeout})}};
  }
  if (count < 0 || count > kMostRetries) {
    return {{Status::kFail, "NCCL_IB_RETRY_CNT=" + std::to_string(count) + ": the hardware counts to 7",
             set_line(subject, "NCCL_IB_RETRY_CNT", "7"), places({retries})}};
  }
  constexpr double kUnitSeconds = 4.096e-6;
  const double lasting =
      kUnitSeconds * std::ldexp(1.0, static_cast<int>(exponent)) * static_cast<double>(count + 1);
  const double allowed = static_cast<double>(seconds_of(subject.collective_timeout));
  if (lasting < allowed) return passed();
  return {{Status::kFail,
           "a dead link is retried for " + std::to_string(static_cast<std::int64_t>(lasting)) +
               " s, longer than PyTorch waits (" + base::format_duration(subject.collective_timeout) + ")",
           set_line(subject, "NCCL_IB_TIMEOUT", std::to_string(by_default)), places({timeout, retries})}};
}

Outcomes ras_factor(const EnvSubject& subject) {
  const Variable* factor = subject.environment.find("NCCL_RAS_TIMEOUT_FACTOR");
  if (factor == nullptr || !factor->known || !subject.software.nccl_since(24)) return not_applicable();
  const std::int64_t value = nccl_integer_of(factor->value);
  constexpr std::int64_t kMost = 5;  // 5 s of gathering become 25 s, 60 s until a peer counts as dead 5 min
  if (value >= 1 && value <= kMost) return passed();
  return {about(Status::kWarn, *factor, shown(*factor) + ": it multiplies every time limit of RAS",
                removal(subject, factor->name))};
}

constexpr Check<EnvSubject> kRules[] = {
    {"heartbeat-before-dump", "the monitor waits until a dump is written",
     "The process is killed while it writes its evidence.", &heartbeat},
    {"dump-wait-short", "a dump has the time it needs", "A dump that is cut off lacks its last entries.",
     &dump_wait},
    {"poll-slow", "time-outs of others are heard of soon",
     "Ranks that dump late are killed before they are done.", &poll},
    {"engine-before-watchdog", "evidence can be had before the engine gives up",
     "Who ends the process first decides whether there is evidence.", &engine_first},
    {"rpc-unit", "the engine's limit has the unit it is read in", "Requests fail that only take a while.",
     &rpc_unit},
    {"ib-timeout", "a dead link is reported before PyTorch gives up",
     "NCCL's error names the link; PyTorch's time-out names only the collective.", &ib_timeout},
    {"ras-factor", "RAS answers in time", "RAS says that a process is dead only after this.", &ras_factor},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_limits() {
  return kRules;
}

}  // namespace unhang::checks
