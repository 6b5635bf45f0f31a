// SPDX-License-Identifier: Apache-2.0
#include "detect/logs_quiet.h"

#include <algorithm>
#include <cstdio>

#include "detect/communicator_lives.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::LogEventKind;
using model::State;

std::string seconds_text(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return buffer;
}

// "all 16 ranks completed it in 0.4 s"
std::string init_words(const LogAnalysis& logs) {
  const CommunicatorSet* largest = nullptr;
  for (const CommunicatorSet& set : logs.communicators) {
    if (set.all_complete && (largest == nullptr || set.size > largest->size)) largest = &set;
  }
  if (largest == nullptr) return {};
  std::string out =
      largest->size == 1 ? std::string("the only rank") : "all " + std::to_string(largest->size) + " ranks";
  out += " completed NCCL's initialisation";
  if (largest->seconds >= 0) out += " in " + seconds_text(largest->seconds);
  return out;
}

bool tests_passed(const model::Log& log) {
  return !log.bandwidth_runs.empty() && std::all_of(log.bandwidth_runs.begin(), log.bandwidth_runs.end(),
                                                    [](const model::BandwidthRun& run) {
                                                      return !run.rows.empty() && !run.cut_row &&
                                                             run.concluded && run.out_of_bounds <= 0;
                                                    });
}

// Nobody was told to end, and nothing failed on the way.
bool in_good_order(const LogAnalysis& logs) {
  for (std::size_t kind = 0; kind < logs.by_kind.size(); ++kind) {
    const auto value = static_cast<LogEventKind>(kind);
    // Connections end with the program.
    if (value == LogEventKind::kStoreClosed || value == LogEventKind::kGlooClosed ||
        value == LogEventKind::kConnectionClosed)
      continue;
    if (model::role_of(value) >= model::LogRole::kConsequence && logs.has(value)) return false;
  }
  return true;
}

}  // namespace

void say_of_logs(const LogAnalysis& logs, model::Verdict& verdict) {
  const model::Log& log = logs.joined->logs;
  verdict.category = Category::kInconclusive;
  verdict.confidence = model::Confidence::kLow;
  verdict.state = State::kUnknown;
  verdict.phase = phase_of(logs);
  const std::string lines = std::to_string(log.lines) + (log.lines == 1 ? " line" : " lines");
  if (log.empty()) {
    verdict.headline =
        lines + " of text: none of them tells of communication, GPUs or a launcher in words that are known";
    return;
  }
  const std::string init = init_words(logs);
  const bool tokens = std::any_of(logs.of(LogEventKind::kRequestProgress).begin(),
                                  logs.of(LogEventKind::kRequestProgress).end(),
                                  [](const model::LogEvent* event) { return event->code == 1; });
  if (tests_passed(log)) {
    verdict.category = Category::kHealthy;
    verdict.state = State::kIdle;
    verdict.headline = "the bandwidth test ran to its end with right results: nothing wrong is seen";
  } else if (logs.somebody_waited) {
    verdict.headline = "somebody waited in vain, and nothing in these logs says why";
  } else if (tokens || logs.has(LogEventKind::kEngineReady)) {
    verdict.category = Category::kHealthy;
    verdict.state = tokens ? State::kAdvancing : State::kIdle;
    verdict.headline = tokens ? "the engine made tokens to the end of these logs: nothing wrong is seen"
                              : "the engine came up and serves: nothing wrong is seen";
  } else if (logs.has(LogEventKind::kTrainingEnd) && in_good_order(logs)) {
    verdict.category = Category::kHealthy;
    verdict.state = State::kIdle;
    verdict.headline = "the program came to its end: nothing wrong is seen";
  } else if (!init.empty()) {
    verdict.headline = init +
                       ": the start of NCCL is not what stands; look at what came after it (weights, "
                       "compilation, the first collective, direct access between GPUs)";
  } else {
    verdict.headline = "nothing in " + lines + " of logs says what is wrong; " +
                       std::to_string(log.recognised) + " of them were recognised";
  }
}

}  // namespace unhang::detect
