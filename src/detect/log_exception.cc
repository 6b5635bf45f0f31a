// SPDX-License-Identifier: Apache-2.0
//
// A rank whose program failed by itself (an exception, an exit status that is no signal). The others then
// wait for it, or nobody was in communication at all. Exceptions that only tell that somebody else failed are
// passed over.
#include <algorithm>
#include <set>

#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Confidence;
using model::LogEvent;
using model::LogEventKind;

// Types that launchers and engines raise about a process that failed elsewhere, and what a wait ends with.
constexpr std::string_view kSecondHand[] = {"TimeoutError",
                                            "EngineDeadError",
                                            "ChildFailedError",
                                            "RayActorError",
                                            "ActorDiedError",
                                            "WorkerCrashedError",
                                            "BrokenPipeError",
                                            "ConnectionResetError",
                                            "EOFError",
                                            "CalledProcessError",
                                            "KeyboardInterrupt",
                                            "ProcessExitedException",
                                            "ProcessRaisedException",
                                            "CancelledError",
                                            "SystemExit",
                                            "DistBackendError",
                                            "DistNetworkError",
                                            "DistStoreError",
                                            "ActorUnavailableError",
                                            "GetTimeoutError",
                                            "RayTaskError",
                                            "ActorUnschedulableError",
                                            "OutOfMemoryError",
                                            "RendezvousTimeoutError",
                                            "RendezvousConnectionError",
                                            "SignalException",
                                            "EngineGenerateError",
                                            "AsyncEngineDeadError"};
constexpr std::string_view kSecondHandTexts[] = {"Engine core initialization failed",
                                                 "Engine process failed to start",
                                                 "Engine core proc",
                                                 "engine is dead",
                                                 "Worker failed with error",
                                                 "worker died",
                                                 "Gloo",
                                                 "gloo",
                                                 "NCCL error",
                                                 "NCCL communicator was aborted",
                                                 "WorkNCCL",
                                                 "Connection closed by peer",
                                                 "Connection reset by peer",
                                                 "Broken pipe",
                                                 "cancelled",
                                                 "TCPStore",
                                                 "timed out",
                                                 "Timed out"};

bool is_second_hand(const LogEvent& event) {
  const std::size_t dot = event.subject.rfind('.');
  const std::string type = dot == std::string::npos ? event.subject : event.subject.substr(dot + 1);
  if (std::find(std::begin(kSecondHand), std::end(kSecondHand), type) != std::end(kSecondHand)) return true;
  return std::any_of(std::begin(kSecondHandTexts), std::end(kSecondHandTexts),
                     [&](std::string_view text) { return event.detail.find(text) != std::string::npos; });
}

// After a wait has ended, exceptions are how it ends.
// Of a rank that is known and did not wait itself, its exception may well be what the others waited for.
bool follows_a_wait(const LogAnalysis& logs, const LogEvent& event) {
  const std::int32_t rank = rank_of(logs, event);
  const bool waited = std::any_of(logs.timeouts.begin(), logs.timeouts.end(), [&](const auto* timeout) {
    const std::int32_t global = logs.origin(timeout->origin).global_rank;
    return global == rank || (global < 0 && timeout->group_rank == rank);
  });
  if ((rank < 0 || waited) &&
      std::any_of(logs.timeouts.begin(), logs.timeouts.end(), [&](const auto* timeout) {
        return timeout->input == event.input && timeout->line < event.line;
      }))
    return true;
  for (const LogEventKind kind : {LogEventKind::kNcclError, LogEventKind::kStoreTimeout,
                                  LogEventKind::kStoreUnreachable, LogEventKind::kEngineTimeout}) {
    for (const LogEvent* earlier : logs.of(kind)) {
      if (earlier->input == event.input && earlier->line < event.line) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Explanation> find_log_exception(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  if (!logs.present()) return {};
  EventRefs events;
  for (const LogEvent* event : logs.of(LogEventKind::kException)) {
    if (!is_second_hand(*event) && !follows_a_wait(logs, *event)) events.push_back(event);
  }
  EventRefs exits;
  for (const LogEvent* exit : logs.of(LogEventKind::kProcessExit)) {
    if (exit->code > 0 && exit->code < 128 && (exit->detail == "root" || exits.empty()))
      exits.push_back(exit);
  }
  const bool only_exit = events.empty();
  // A process that leaves with a status after its collective timed out leaves because of that.
  if (only_exit && (exits.empty() || logs.somebody_waited || logs.has(LogEventKind::kNcclError))) return {};
  const EventRefs& told = only_exit ? exits : events;
  const LogEvent& first = *told.front();
  const std::int32_t rank = rank_of(logs, first);
  std::string who = rank >= 0 ? "rank " + std::to_string(rank) : writer_text(logs, first.origin);
  if (who.empty()) who = "a process";
  const bool others_wait = logs.somebody_waited;
  Explanation found = log_finding(
      logs, others_wait ? Category::kProcessOrDeviceUnavailable : Category::kNotCommunication,
      others_wait ? "process_exited" : "application_error", Confidence::kLow,
      who +
          (only_exit ? " left with status " + std::to_string(first.code)
                     : " failed with " + first.subject +
                           (first.detail.empty() ? "" : ": " + first.detail.substr(0, 100))) +
          (others_wait ? "; the others wait for it" : ": a fault of the program, not of communication"),
      told);
  found.state = model::State::kDead;
  if (others_wait) found.root = "application_error";
  if (rank >= 0) found.other_suspects.push_back(rank_subject(rank));
  return {std::move(found)};
}

}  // namespace unhang::detect
