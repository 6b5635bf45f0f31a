// SPDX-License-Identifier: Apache-2.0
//
// Communicators that were begun and never complete: where each stopped, and which of its ranks never
// appeared. And a start-up that stands before NCCL said anything.
#include <algorithm>
#include <map>

#include "detect/communicator_lives.h"
#include "detect/detector.h"
#include "detect/log_finding.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::CommunicatorPhase;
using model::Confidence;
using model::LogCommunicator;
using model::LogEvent;
using model::LogEventKind;

const char* words_for(CommunicatorPhase phase) {
  switch (phase) {
    case CommunicatorPhase::kStarted:
      return "right after its start, where the ranks look for each other";
    case CommunicatorPhase::kBootstrap:
      return "after its bootstrap";
    case CommunicatorPhase::kTopology:
      return "after looking at the topology";
    case CommunicatorPhase::kConnecting:
      return "while connecting its channels";
    case CommunicatorPhase::kConnected:
      return "when its channels were connected";
    default:
      return "before it was complete";
  }
}

// Whether the logs show that it stood, and do not merely end there, as a pasted piece does: somebody waited,
// or time went by, or most of its ranks are here and none got far.
bool seen_standing(const LogAnalysis& logs, const CommunicatorSet& set) {
  constexpr std::int64_t kLong = 60'000'000'000;
  if (logs.somebody_waited || !set.missing_with_log.empty()) return true;
  const model::LogTime& end = logs.joined->logs.last;
  if (set.first_start.known() && end.clock == set.first_start.clock && end.ns - set.first_start.ns >= kLong)
    return true;
  const auto size = static_cast<std::size_t>(std::max(set.size, 1));
  return set.members.size() * 2 >= size && set.slowest < CommunicatorPhase::kConnected &&
         std::any_of(set.members.begin(), set.members.end(),
                     [&](std::uint32_t member) { return logs.joined->logs.communicators[member].started; });
}

// A log that holds the lines of several ranks, some before and some behind each missing one, would hold its
// lines, too.
bool would_be_seen(const LogAnalysis& logs, const CommunicatorSet& set,
                   const std::vector<std::int32_t>& missing) {
  struct Held {
    std::int32_t least, most;
    std::size_t count;
  };
  std::map<std::uint32_t, Held> by_input;
  for (const std::uint32_t member : set.members) {
    const LogCommunicator& c = logs.joined->logs.communicators[member];
    Held& held = by_input.try_emplace(c.input, Held{c.rank, c.rank, 0}).first->second;
    held.least = std::min(held.least, c.rank);
    held.most = std::max(held.most, c.rank);
    ++held.count;
  }
  constexpr std::size_t kSeveral = 3;
  return std::all_of(missing.begin(), missing.end(), [&](std::int32_t rank) {
    return std::any_of(by_input.begin(), by_input.end(), [&](const auto& input) {
      return input.second.count >= kSeveral && input.second.least < rank && rank < input.second.most;
    });
  });
}

// So few are missing that they, and not the copying of logs, are the likely reason.
bool few(std::int64_t missing, std::int32_t size) {
  constexpr int kShare = 4;
  return missing > 0 && missing * kShare <= size;
}

// Those whom the others wait for: named where they are few, suspected where there are more.
void name_missing(const CommunicatorSet& set, const std::vector<std::int32_t>& missing, Explanation& out) {
  const bool told = !set.missing_with_log.empty();
  const std::vector<std::int32_t>& ranks = told ? set.missing_with_log : missing;
  const auto count = static_cast<std::int64_t>(told ? ranks.size() : set.missing_count);
  if (!told && count * 2 >= set.size) return;
  constexpr std::size_t kAtMost = 64;
  auto& list = few(count, set.size) ? out.other_culprits : out.other_suspects;
  for (const std::int32_t rank : ranks) {
    if (list.size() >= kAtMost) break;
    list.push_back(rank_subject(rank));
    list.back().why = told ? "its process writes to the logs and never began it" : "never checked in";
  }
}

// A program that ended in good order did not hang in what it had left behind.
bool ended_well(const LogAnalysis& logs) {
  return logs.has(LogEventKind::kTrainingEnd) && !logs.somebody_waited;
}

}  // namespace

std::vector<Explanation> find_log_init_hang(const Analysis& analysis) {
  const LogAnalysis& logs = analysis.logs;
  std::vector<Explanation> out;
  if (!logs.present() || ended_well(logs)) return out;
  const model::Log& log = logs.joined->logs;
  for (const CommunicatorSet& set : logs.communicators) {
    if (set.stopped.empty() || set.slowest >= CommunicatorPhase::kComplete) continue;
    if (!logs.timeouts.empty() && set.size > 0 && set.members.size() < 2) continue;
    if (!seen_standing(logs, set)) continue;
    const std::vector<std::int32_t> missing = missing_ranks(set, 64);
    const bool told = !set.missing_with_log.empty() ||
                      (few(set.missing_count, set.size) && would_be_seen(logs, set, missing));
    const std::size_t stopped = set.stopped.size();
    std::string headline = (stopped == 1 ? "one rank" : std::to_string(stopped) + " ranks") +
                           " began communicator " + set.label +
                           " and never completed it; the slowest stands " + words_for(set.slowest);
    if (set.missing_count > 0) {
      headline = (set.missing_count == 1 ? "rank " : "ranks ") + missing_text(set) + " of " +
                 std::to_string(set.size) + " never checked in to communicator " + set.label + "; " +
                 std::to_string(set.members.size()) + (set.members.size() == 1 ? " waits" : " wait");
      if (!told) headline += ", or their logs are missing";
    }
    Explanation found = log_finding(logs, Category::kInitializationHang,
                                    set.missing_count > 0 ? "rank_never_joined" : "unknown",
                                    told ? Confidence::kMedium : Confidence::kLow, std::move(headline), {});
    found.state = model::State::kStopped;
    for (const std::uint32_t member : set.stopped) {
      const LogCommunicator& c = log.communicators[member];
      if (found.records.size() < 8)
        found.records.push_back(cite_line(logs, c.input, c.started_line != 0 ? c.started_line : c.last_line,
                                          "rank " + std::to_string(c.rank) + " of " +
                                              std::to_string(c.ranks) +
                                              " began, reached: " + std::string(model::name_of(c.phase))));
    }
    name_missing(set, missing, found);
    model::Where where;
    where.group = set.label;
    where.operation = "communicator initialisation";
    found.where = where;
    out.push_back(std::move(found));
    if (out.size() >= 8) break;
  }
  if (!out.empty()) return out;
  const EventRefs& begun = logs.of(LogEventKind::kDistributedInitBegin);
  if (!begun.empty() && !logs.has(LogEventKind::kDistributedInitEnd) && !logs.past_init &&
      logs.timeouts.empty()) {
    // Whatever comes long after is a sign that it went on.
    const LastLines later(
        logs,
        {LogEventKind::kWeightLoading, LogEventKind::kCompilation, LogEventKind::kEngineReady,
         LogEventKind::kRequestProgress, LogEventKind::kTrainingStep, LogEventKind::kException},
        Requests::kAny);
    if (later.behind(*begun.back())) return out;
    Explanation found = log_finding(
        logs, Category::kInitializationHang, "unknown", Confidence::kLow,
        "the start-up of distributed communication was begun and no line says that it ended", begun);
    found.tentative = true;
    found.state = model::State::kUnknown;
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace unhang::detect
