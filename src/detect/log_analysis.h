// SPDX-License-Identifier: Apache-2.0
//
// What the detectors of logs ask of them: events by kind, who wrote them, what came before what, and whether
// anybody waited in vain. Computed once from the Case.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detect/communicator_lives.h"
#include "detect/explanation.h"
#include "detect/last_lines.h"
#include "detect/log_timeouts.h"
#include "model/case.h"

namespace unhang::detect {

using EventRefs = std::vector<const model::LogEvent*>;

struct LogAnalysis {
  const model::Case* joined = nullptr;
  std::array<EventRefs, static_cast<std::size_t>(model::LogEventKind::kCount)> by_kind;
  std::vector<const model::WatchdogTimeout*> timeouts;  // of the last run of each file
  std::vector<TimeoutGroup> timeout_groups;             // the largest first
  std::vector<CommunicatorSet> communicators;
  LastLines life;  // steps or tokens: the job went on
  // Files that tell of a good end, or of going on, behind everything that went wrong in them.
  std::set<std::uint32_t> inputs_that_end_well;
  // Somebody waited in vain: a time-out, a stuck watchdog, an engine that waits for its worker.
  bool somebody_waited = false;
  // Some communicator was complete, or a collective was timed out: the job was past its initialisation.
  bool past_init = false;
  // A communicator was begun and is not complete.
  bool init_open = false;

  bool present() const { return joined != nullptr && joined->logs.lines != 0; }
  const EventRefs& of(model::LogEventKind kind) const { return by_kind[static_cast<std::size_t>(kind)]; }
  bool has(model::LogEventKind kind) const { return !of(kind).empty(); }
  // In the order of input and line.
  EventRefs of_all(std::initializer_list<model::LogEventKind> kinds) const;
  const model::LogOrigin& origin(std::uint32_t index) const { return joined->logs.origins[index]; }
};

LogAnalysis analyse_logs(const model::Case& joined);

// "node3", "rank 5 (node3)", "pid 4242 on node3": who wrote a line; empty where nothing is known.
std::string writer_text(const LogAnalysis& logs, std::uint32_t origin);
model::Subject writer(const LogAnalysis& logs, std::uint32_t origin);  // kind: rank, process or host
model::Subject host_subject(std::string host, std::string why = {});
model::Subject rank_subject(std::int32_t rank);
model::Subject gpu_subject(const LogAnalysis& logs, std::uint32_t origin, std::string gpu);

model::EvidenceItem cite(const LogAnalysis& logs, const model::LogEvent& event);
model::EvidenceItem cite(const LogAnalysis& logs, const model::WatchdogTimeout& timeout);
model::EvidenceItem cite_line(const LogAnalysis& logs, std::uint32_t input, std::uint64_t line,
                              std::string text);
void cite_all(const LogAnalysis& logs, const EventRefs& events, Explanation& explanation);

// The rank that an event tells of: the one on the line, else its writer's; -1: not known.
std::int32_t rank_of(const LogAnalysis& logs, const model::LogEvent& event);
// "10.0.0.9" of "10.0.0.9<40112>": the port is another in each connection.
std::string peer_host(const model::LogEvent& event);

// The distinct hosts of the writers, sorted.
std::vector<std::string> hosts_of(const LogAnalysis& logs, const EventRefs& events);

// "a, b and c"; beyond four, "a, b, c and 5 more".
std::string listed(const std::vector<std::string>& names);

// Initialisation or steady, as far as the log shows where the job was.
model::Phase phase_of(const LogAnalysis& logs);

}  // namespace unhang::detect
