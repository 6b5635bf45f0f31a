// SPDX-License-Identifier: Apache-2.0
#include "detect/ledger.h"

#include <algorithm>

#include "base/rank_set.h"
#include "base/time_text.h"
#include "detect/communicator_lives.h"
#include "detect/nothing_wrong.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Case;
using model::Verdict;

void add_coverage(const Case& joined, Verdict& verdict) {
  verdict.expected_ranks = joined.ranks.size();
  for (const model::CoverageRow& row : joined.coverage) {
    verdict.coverage.push_back({row.source, joined.global_ranks(row.seen), joined.global_ranks(row.partial),
                                joined.global_ranks(row.unreadable), joined.global_ranks(row.absent)});
  }
}

void add_dump_signal(const Case& joined, Verdict& verdict) {
  model::ProgressSignal signal{.signal = "flight_recorder_sequence",
                               .scope = "all groups",
                               .usable = false,
                               .why_not = "one dump shows a moment, not movement",
                               .last_moved = {}};
  std::int64_t newest = 0;
  for (const model::Rank& rank : joined.ranks) {
    for (const model::Operation& op : rank.operations) newest = std::max(newest, op.completed_ns);
  }
  if (newest > 0) signal.last_moved = base::utc_text(newest);
  verdict.progress.push_back(std::move(signal));
}

void add_ras_signal(const Analysis& analysis, Verdict& verdict) {
  const RasAnalysis& ras = analysis.ras;
  model::ProgressSignal signal{.signal = "nccl_ras_counts",
                               .scope = "all communicators",
                               .usable = true,
                               .why_not = {},
                               .last_moved = {}};
  const bool any_known =
      std::any_of(ras.communicators.begin(), ras.communicators.end(),
                  [](const auto& state) { return state.progress.movement != Movement::kUnknown; });
  if (ras.one_view) {
    signal.usable = false;
    signal.why_not = "one answer shows a moment, not movement";
  } else if (!any_known) {
    signal.usable = false;
    signal.why_not = ras.communicators.empty() ? "no communicator is in the latest answer"
                                               : ras.communicators.front().progress.why;
    if (!ras.watched_ns) signal.why_not = "when the answers were given is not known";
  }
  std::optional<std::int64_t> moved;
  for (const RasCommunicatorState& state : ras.communicators) {
    if (state.progress.last_moved_ns) moved = std::max(moved.value_or(0), *state.progress.last_moved_ns);
  }
  // A local time without its zone is no UTC.
  if (moved && ras.watched_ns && !ras.latest->is_local_time) signal.last_moved = base::utc_text(*moved);
  verdict.progress.push_back(std::move(signal));
}

void add_engine_signals(const Analysis& analysis, Verdict& verdict) {
  for (const EngineEvidence& engine : analysis.engines) {
    model::ProgressSignal signal{.signal = "engine_counters",
                                 .scope = engine.engine,
                                 .usable = engine.judgement.usable && engine.timed && engine.readings > 1,
                                 .why_not = engine.judgement.why_not,
                                 .last_moved = {}};
    if (engine.readings == 1) signal.why_not = "one reading shows a moment, not movement";
    if (!engine.timed && engine.readings > 1) signal.why_not = "when the pages were read is not known";
    if (engine.timed && engine.judgement.last_moved_ns)
      signal.last_moved = base::utc_text(*engine.judgement.last_moved_ns);
    verdict.progress.push_back(std::move(signal));
  }
}

std::string of_ranks(const std::vector<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + base::fold_ranks(ranks);
}

bool captured_kernel_log(const Case& joined) {
  return std::any_of(joined.bundles.begin(), joined.bundles.end(), [](const model::BundleManifest& bundle) {
    return std::any_of(bundle.sources.begin(), bundle.sources.end(), [](const model::BundleSource& source) {
      return source.kind == "kernel_log" && !source.files.empty();
    });
  });
}

bool has_kernel_log(const Case& joined) {
  return joined.has_kernel_log || captured_kernel_log(joined);
}

// What the silence of a source is called, before "rank 5".
struct GapWords {
  std::string_view source, absent, partial;
};
constexpr GapWords kGapWords[] = {
    {"flight_recorder", "no dump of ", "incomplete dump of "},
    {"nccl_ras", "no answer to RAS from ", "what RAS knows of "},
    {"log", "no log line of ", "incomplete log of "},
    {"kernel_log", "no kernel log of the hosts of ", "incomplete kernel log of "},
    {"stacks", "no stack of ", "incomplete stack of "},
};

void add_gaps(const Verdict& verdict, std::vector<std::string>& out) {
  for (const auto& row : verdict.coverage) {
    for (const GapWords& words : kGapWords) {
      if (words.source != row.source) continue;
      if (!row.absent.empty()) out.push_back(std::string(words.absent) + of_ranks(row.absent));
      if (!row.unreadable.empty()) out.push_back("unreadable dump of " + of_ranks(row.unreadable));
      if (!row.partial.empty()) out.push_back(std::string(words.partial) + of_ranks(row.partial));
    }
  }
}

// Sources of which nothing is there: nobody asked, and their silence says nothing.
void add_not_asked(const Case& joined, Verdict& verdict) {
  for (const GapWords& words : kGapWords) {
    const bool asked = std::any_of(verdict.coverage.begin(), verdict.coverage.end(),
                                   [&](const auto& row) { return row.source == words.source; }) ||
                       (words.source == "log" && joined.logs.lines != 0) ||
                       (words.source == "nccl_ras" && !joined.ras.events.empty()) ||
                       (words.source == "stacks" && !joined.processes.empty()) ||
                       (words.source == "kernel_log" && has_kernel_log(joined));
    if (!asked) verdict.not_asked.emplace_back(words.source);
  }
}

std::string words_of(const model::BundleSource& source) {
  if (source.kind == "flight_recorder") return "Flight Recorder dumps";
  if (source.kind == "ras") return "RAS at " + source.asked;
  if (source.kind == "engine") return "the engine at " + source.asked;
  if (source.kind == "stacks") return "stacks of the workers";
  if (source.kind == "kernel_log") return "the kernel's log";
  if (source.kind == "nccl_log") return "files of NCCL's log";
  if (source.kind == "gpu") return "the GPUs";
  if (source.kind == "nic") return "counters of the network";
  if (source.kind == "sockets") return "sockets of the workers";
  if (source.kind == "system") return "limits of the workers";
  if (source.kind == "scheduler") return "the scheduler";
  if (source.kind == "member") return source.asked;
  return source.kind;
}

// RAS, engines and dumps should have been there. What tells of the machine is often not installed, or there
// is no such thing; only where it was there and did not answer something was not seen.
bool asked_in_vain(const model::BundleSource& source) {
  using Status = model::SourceStatus;
  if (source.kind == "processes") return false;
  if (source.kind == "ras" || source.kind == "engine" || source.kind == "flight_recorder" ||
      source.kind == "member")
    return model::lacks_something(source);
  return source.status == Status::kSilent || source.status == Status::kRefused ||
         source.status == Status::kFailed;
}

// What a capture asked in vain.
void add_silent_sources(const Case& joined, std::vector<std::string>& out) {
  for (const model::BundleManifest& bundle : joined.bundles) {
    for (const model::BundleSource& source : bundle.sources) {
      if (!asked_in_vain(source)) continue;
      std::string text = words_of(source) + ": " + std::string(model::name_of(source.status));
      if (!source.reason.empty()) text += ", " + source.reason;
      if (!bundle.host.empty() && source.kind != "member") text += " (captured on " + bundle.host + ")";
      out.push_back(std::move(text));
    }
  }
}

// Of logs alone: which kinds of log were not among them, and what no log tells.
void add_unlogged(const LogAnalysis& logs, std::vector<std::string>& out) {
  const model::Log& log = logs.joined->logs;
  if (!has_kernel_log(*logs.joined))
    out.push_back("the kernel's log: an Xid, a killed process or a lost link would only show there");
  if (log.nccl_lines == 0)
    out.push_back("NCCL's own lines: NCCL_DEBUG=INFO was not on, or its files are elsewhere");
  for (const CommunicatorSet& set : logs.communicators) {
    if (set.missing_count == 0) continue;
    out.push_back("lines of " + std::string(set.missing_count == 1 ? "rank " : "ranks ") + missing_text(set) +
                  " of communicator " + set.label);
    break;
  }
  if (const auto& collapsed = logs.of(model::LogEventKind::kLinesCollapsed); !collapsed.empty())
    out.push_back("lines of other ranks that Ray left out as repeated: RAY_DEDUP_LOGS=0 keeps them");
  if (log.lines > log.recognised)
    out.push_back("what " + std::to_string(log.lines - log.recognised) + " of " + std::to_string(log.lines) +
                  " lines mean: they were not recognised");
  out.push_back("where each rank stands now: RAS answers and Flight Recorder dumps tell that");
}

void add_blind_spots(const Analysis& analysis, std::vector<std::string>& out) {
  const Case& joined = analysis.joined;
  if (std::any_of(joined.groups.begin(), joined.groups.end(),
                  [&](const auto& group) { return joined.is_gloo(group); }))
    out.push_back("point-to-point work of gloo groups: gloo records none");
  if (!joined.has_dumps && !analysis.ras.asked() && analysis.engines.empty() && analysis.logs.present()) {
    add_unlogged(analysis.logs, out);
    return;
  }
  if (!joined.has_dumps && !analysis.ras.asked() && !analysis.engines.empty()) {
    out.push_back("NCCL itself: neither RAS answers nor Flight Recorder dumps are among the inputs");
    return;
  }
  if (joined.has_dumps || !analysis.ras.asked()) {
    out.push_back(
        "what the Flight Recorder never sees: CUDA graph replays, custom all-reduce, NCCL called directly by "
        "the engine");
    return;
  }
  if (!analysis.ras.latest->complete) out.push_back("the end of the RAS answer: it is cut off");
  if (analysis.ras.latest->corrupt)
    out.push_back("a part of the RAS answer that is damaged, as known of its release");
  if (joined.ras.ranks_from_communicator && joined.ras.world_hash != 0 &&
      analysis.ras.communicators.size() > 1)
    out.push_back("global ranks: ranks of the largest communicator stand for them");
  out.push_back("which call and line of the program: that takes Flight Recorder dumps");
  out.push_back(
      "what RAS never counts: CUDA graph replays, send/recv, all-to-all, custom all-reduce; and whether what "
      "was "
      "launched also finished");
}

void add_not_seen(const Analysis& analysis, Verdict& verdict) {
  const Case& joined = analysis.joined;
  auto& out = verdict.not_seen;
  const std::size_t strangers = count_strangers(joined);
  if (strangers > 0) {
    out.push_back(std::to_string(strangers) + plural(strangers, " file", " files") +
                  " of other jobs or runs: give them by themselves");
  }
  add_gaps(verdict, out);
  for (const auto& input : joined.inputs) {
    for (const auto& problem : input.problems) {
      if (problem.code == "refused_opcode")
        out.push_back("refused as hostile: " + input.path + " (" + problem.text + ")");
    }
  }
  for (const auto& conflict : joined.conflicts)
    out.push_back(joined.inputs[conflict.input].path + ": " + conflict.text);
  if (analysis.ras.asked() && !analysis.ras.latest->contradicted.empty()) {
    out.push_back("RAS contradicts itself about " + std::to_string(analysis.ras.latest->contradicted.size()) +
                  " processes: some call them dead, others heard them");
  }
  add_silent_sources(joined, out);
  add_blind_spots(analysis, out);
}

}  // namespace

void fill_ledger(const Analysis& analysis, Verdict& verdict) {
  add_coverage(analysis.joined, verdict);
  add_not_asked(analysis.joined, verdict);
  const bool others = analysis.ras.asked() || !analysis.engines.empty() || analysis.logs.present();
  if (analysis.joined.has_dumps || !others) add_dump_signal(analysis.joined, verdict);
  if (analysis.ras.asked()) add_ras_signal(analysis, verdict);
  add_engine_signals(analysis, verdict);
  add_not_seen(analysis, verdict);
}

}  // namespace unhang::detect
