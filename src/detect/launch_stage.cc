// SPDX-License-Identifier: Apache-2.0
#include "detect/launch_stage.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "detect/launch_frames.h"
#include "detect/launch_words.h"
#include "detect/log_analysis.h"
#include "detect/ras_progress.h"
#include "model/mixed_stack.h"

namespace unhang::detect {
namespace {

using model::Case;
using model::CommunicatorPhase;
using model::Confidence;
using model::EvidenceItem;
using model::LaunchFacts;
using model::LaunchMovement;
using model::LaunchPlace;
using model::LaunchStage;
using model::LogEvent;
using model::LogEventKind;

// Whoever printed something within this part of the limit (and at least so many seconds) still prints.
constexpr double kQuietPart = 0.1, kShortestQuiet = 0.5;
constexpr std::size_t kMostEvidence = 6;

double quiet_limit(const LaunchFacts& facts) {
  return std::max(kShortestQuiet, facts.limit_s * kQuietPart);
}

const char* words_of(CommunicatorPhase phase) {
  switch (phase) {
    case CommunicatorPhase::kStarted:
      return "its ranks look for each other (bootstrap)";
    case CommunicatorPhase::kBootstrap:
      return "the topology is being read";
    case CommunicatorPhase::kTopology:
    case CommunicatorPhase::kConnecting:
      return "connecting channels";
    case CommunicatorPhase::kConnected:
      return "channels are connected, not yet complete";
    default:
      return "making a communicator";
  }
}

// Work of the host that logs tell of, with whether its line begins (code 0) or ends it (1).
struct HostWork {
  LogEventKind kind;
  const char* words;
};
constexpr std::array<HostWork, 3> kHostWork{{{LogEventKind::kWeightLoading, "loading weights"},
                                             {LogEventKind::kCompilation, "compiling or capturing graphs"},
                                             {LogEventKind::kDataLoading, "loading data or the tokenizer"}}};

bool has_python(const model::ProcessSample& sample) {
  return std::any_of(sample.threads.begin(), sample.threads.end(),
                     [](const model::ThreadSample& thread) { return model::has_python(thread.frames); });
}

class Judge {
 public:
  Judge(const Case& joined, const LaunchFacts& facts)
      : x_case(joined), x_facts(facts), x_logs(analyse_logs(joined)) {}

  LaunchStage run() {
    look_at_stacks();
    place();
    return std::move(x_stage);
  }

 private:
  void cite(EvidenceItem item) {
    if (x_stage.evidence.size() < kMostEvidence) x_stage.evidence.push_back(std::move(item));
  }
  void settle(LaunchPlace place, Confidence confidence, std::string doing) {
    x_stage.place = place;
    x_stage.confidence = confidence;
    x_stage.doing = std::move(doing);
  }

  // The last look at each process that says something. A tool that sees no Python says nothing of what Python
  // does: gdb, which comes last, must not hide what py-spy saw.
  void look_at_stacks() {
    std::map<std::pair<std::string, std::int64_t>, const model::ProcessReading*> last;
    for (const auto& reading : x_case.processes) {
      auto& shown = last[{reading.sample.host, reading.sample.pid}];
      const bool says = launch_frame(reading.sample).work != LaunchWork::kUnknown;
      if (shown == nullptr || says || has_python(reading.sample)) shown = &reading;
    }
    for (const auto& [key, reading] : last) {
      const LaunchFrame frame = launch_frame(reading->sample);
      if (frame.work == LaunchWork::kUnknown) continue;
      ++x_stacks;
      ++x_work[frame.work];
      auto& shown = x_shown[frame.work];
      if (shown.text.empty()) {
        shown.file = x_case.inputs[reading->input].path;
        shown.text =
            fmt::format("process {} is {}: {}", reading->sample.pid, words_for(frame.work), frame.function);
      }
    }
  }
  std::size_t in(LaunchWork work) const {
    const auto found = x_work.find(work);
    return found == x_work.end() ? 0 : found->second;
  }
  void cite_stacks(std::initializer_list<LaunchWork> works) {
    for (const LaunchWork work : works) {
      const std::size_t count = in(work);
      if (count == 0) continue;
      EvidenceItem item = x_shown.at(work);
      if (count > 1) item.text += fmt::format(" (and {} more)", count - 1);
      cite(std::move(item));
    }
  }

  void place() {
    if (runs() || in_open_communicator() || in_first_collective() || in_initialisation() ||
        works_on_the_host() || begun_without_communicator())
      return;
    const bool ready = ready_communicators() > 0;
    if (ready) {
      settle(LaunchPlace::kAfterInit, Confidence::kMedium, "");
      cite_ready();
    } else if (x_case.logs.nccl_lines > 0) {
      settle(LaunchPlace::kNcclInit, Confidence::kLow, "NCCL is loaded, no communicator was begun");
    } else {
      settle(LaunchPlace::kBeforeNccl, x_facts.processes > 0 ? Confidence::kMedium : Confidence::kLow, "");
      x_stage.not_seen.push_back("no process wrote a line of NCCL: it was not reached, or is not used");
    }
  }

  // Operations that were done, steps, tokens, an engine that serves.
  bool runs() {
    for (const LogEventKind kind :
         {LogEventKind::kTrainingStep, LogEventKind::kRequestProgress, LogEventKind::kEngineReady}) {
      const EventRefs& events = x_logs.of(kind);
      if (events.empty()) continue;
      const bool idle = kind == LogEventKind::kRequestProgress && events.back()->code == 0;
      if (idle) continue;
      settle(LaunchPlace::kRunning, Confidence::kHigh,
             kind == LogEventKind::kEngineReady ? "the engine serves" : "");
      x_counts_steps = kind != LogEventKind::kEngineReady;
      cite(detect::cite(x_logs, *events.back()));
      return true;
    }
    if (in(LaunchWork::kServing) > 0 && in(LaunchWork::kServing) == x_stacks) {
      settle(LaunchPlace::kRunning, Confidence::kMedium, std::string(words_for(LaunchWork::kServing)));
      cite_stacks({LaunchWork::kServing});
      return true;
    }
    if (counts_grow()) return true;
    std::int64_t done = 0;
    for (const model::Rank& rank : x_case.ranks) {
      for (const model::Lane& lane : rank.lanes) {
        if (x_case.is_gloo(x_case.groups[lane.group])) continue;
        done = std::max(done, lane.last_completed.value_or(0));
        x_enqueued = std::max(x_enqueued, lane.last_enqueued.value_or(0));
      }
    }
    if (done < 1) return calls_go_on() || gave_up_later();
    settle(LaunchPlace::kRunning, Confidence::kHigh,
           in(LaunchWork::kCollective) > 0 ? "in a collective" : "");
    cite({.file = first_dump(),
          .line = {},
          .offset = {},
          .record = {},
          .text = fmt::format("the recorder counts {} finished operations", done)});
    cite_stacks({LaunchWork::kCollective});
    return true;
  }
  // Between two answers of RAS.
  bool counts_grow() {
    RasProgress progress;
    const model::RasView* last = nullptr;
    for (const model::RasView& view : x_case.ras.views) {
      if (!view.time_ns) continue;
      progress.observe(view, *view.time_ns);
      last = &view;
    }
    const auto communicators = progress.state();
    const auto moves = [](const RasCommunicatorProgress& of) { return of.movement == Movement::kAdvancing; };
    if (last == nullptr || !std::any_of(communicators.begin(), communicators.end(), moves)) return false;
    settle(LaunchPlace::kRunning, Confidence::kHigh, "collectives are being called");
    x_moves = true;
    if (!last->sources.empty())
      cite({.file = x_case.inputs[last->sources.front()].path,
            .line = {},
            .offset = {},
            .record = {},
            .text = "RAS counts more collectives than in its answer before"});
    return true;
  }
  // With COLL in NCCL's log: the host calls operations after the first, or right now.
  bool calls_go_on() {
    const model::LogCall* last = nullptr;
    for (const model::LogCall& call : x_case.logs.calls) {
      if (last == nullptr || call.op_count > last->op_count) last = &call;
    }
    if (last == nullptr || last->op_count == 0) return false;
    const bool now = x_facts.nccl_quiet_s && *x_facts.nccl_quiet_s <= quiet_limit(x_facts);
    settle(LaunchPlace::kRunning, Confidence::kMedium,
           now ? "collectives are being called" : "in a collective");
    x_counts_steps = now;
    cite_call(*last);
    cite_stacks({LaunchWork::kCollective});
    return true;
  }
  void cite_call(const model::LogCall& call) {
    cite(cite_line(x_logs, x_case.logs.communicators[call.communicator].input, call.line,
                   fmt::format("{} was called (opCount {:x})", call.kind, call.op_count)));
  }
  // The watchdog gave up on an operation that was not the first of its group.
  bool gave_up_later() {
    for (const model::WatchdogTimeout* timeout : x_logs.timeouts) {
      if (timeout->last_completed < 1) continue;
      settle(LaunchPlace::kRunning, Confidence::kHigh, "the watchdog gave up on a collective");
      x_gave_up = true;
      cite(detect::cite(x_logs, *timeout));
      return true;
    }
    return false;
  }
  std::string first_dump() const {
    for (const model::Rank& rank : x_case.ranks) {
      if (rank.input) return x_case.inputs[*rank.input].path;
    }
    return {};
  }

  // By NCCL's log, and by RAS, which also lists those that are being made.
  std::size_t ready_communicators() const {
    const auto by_log = std::count_if(x_logs.communicators.begin(), x_logs.communicators.end(),
                                      [](const auto& set) { return set.stopped.empty(); });
    if (x_case.ras.views.empty()) return static_cast<std::size_t>(by_log);
    const auto is_made = [](const model::RasCommunicator& communicator) {
      return !communicator.ranks.empty() &&
             std::all_of(
                 communicator.ranks.begin(), communicator.ranks.end(),
                 [](const model::RasRank& rank) { return rank.init_state == model::NcclResult::kSuccess; });
    };
    const auto& listed = x_case.ras.views.back().communicators;
    return static_cast<std::size_t>(by_log + std::count_if(listed.begin(), listed.end(), is_made));
  }
  void cite_ready() {
    for (const auto& set : x_logs.communicators) {
      if (!set.stopped.empty() || set.members.empty()) continue;
      const model::LogCommunicator& member = x_case.logs.communicators[set.members.front()];
      cite(cite_line(x_logs, member.input, member.completed_line,
                     fmt::format("communicator {} of {} ranks is complete", set.label, set.size)));
      return;
    }
  }

  // NCCL writes a line when a communicator is begun and one when it is complete.
  bool in_open_communicator() {
    for (const auto& set : x_logs.communicators) {
      if (set.stopped.empty() || set.slowest == CommunicatorPhase::kAborted) continue;
      settle(LaunchPlace::kNcclInit, Confidence::kHigh, words_of(set.slowest));
      if (set.missing_count > 0) {
        x_stage.missing = missing_ranks(set, 64);
        x_stage.headline =
            fmt::format("{} of {} never checked in to communicator {}; {} {}", "rank " + missing_text(set),
                        set.size, set.label, set.members.size(), set.members.size() == 1 ? "waits" : "wait");
      }
      for (const std::uint32_t index : set.stopped) {
        const model::LogCommunicator& member = x_case.logs.communicators[index];
        cite(cite_line(x_logs, member.input, member.last_line,
                       fmt::format("rank {} of {} began, reached: {}", member.rank, member.ranks,
                                   model::name_of(member.phase))));
      }
      cite_stacks({LaunchWork::kNcclInit, LaunchWork::kNcclConnect});
      return true;
    }
    return false;
  }

  bool in_first_collective() {
    if (in(LaunchWork::kNcclConnect) > 0 && ready_communicators() > 0) {
      settle(LaunchPlace::kFirstCollective, Confidence::kHigh, "connecting channels");
      cite_stacks({LaunchWork::kNcclConnect, LaunchWork::kCollective});
      return true;
    }
    const bool called = x_enqueued > 0 || !x_case.logs.calls.empty() || !x_logs.timeouts.empty();
    if (!called && in(LaunchWork::kCollective) == 0) return false;
    if (in(LaunchWork::kStore) > in(LaunchWork::kCollective)) return false;
    // A stack alone shows a collective; many that work stand in one at any moment.
    settle(LaunchPlace::kFirstCollective, called ? Confidence::kHigh : Confidence::kLow,
           called ? "operations were called, none is known to be done"
                  : "in a collective; whether in the first is not known");
    if (x_enqueued > 0)
      cite({.file = first_dump(),
            .line = {},
            .offset = {},
            .record = {},
            .text = fmt::format("the recorder counts {} operations called and none finished", x_enqueued)});
    if (!x_case.logs.calls.empty()) cite_call(x_case.logs.calls.front());
    cite_stacks({LaunchWork::kCollective});
    return true;
  }

  bool in_initialisation() {
    if (in(LaunchWork::kNcclInit) > 0 || in(LaunchWork::kNcclConnect) > 0) {
      settle(LaunchPlace::kNcclInit, Confidence::kMedium, std::string(words_for(LaunchWork::kNcclInit)));
      cite_stacks({LaunchWork::kNcclInit, LaunchWork::kNcclConnect, LaunchWork::kStore});
      return true;
    }
    if (in(LaunchWork::kStore) == 0) return false;
    settle(ready_communicators() > 0 ? LaunchPlace::kAfterInit : LaunchPlace::kBeforeNccl,
           Confidence::kMedium, std::string(words_for(LaunchWork::kStore)));
    cite_stacks({LaunchWork::kStore});
    return true;
  }

  // Weights, compilation, tokenizer: by stacks, else by the last line that tells of such work.
  bool works_on_the_host() {
    const LaunchPlace place = ready_communicators() > 0 || x_logs.has(LogEventKind::kDistributedInitEnd)
                                  ? LaunchPlace::kAfterInit
                                  : LaunchPlace::kBeforeNccl;
    LaunchWork most = LaunchWork::kUnknown;
    for (const LaunchWork work : {LaunchWork::kWeights, LaunchWork::kCompile, LaunchWork::kTokenizer,
                                  LaunchWork::kDataset, LaunchWork::kImport}) {
      if (in(work) > in(most)) most = work;
    }
    if (most != LaunchWork::kUnknown) {
      settle(place, Confidence::kHigh, std::string(words_for(most)));
      cite_stacks({most});
      if (place == LaunchPlace::kAfterInit) cite_ready();
      return true;
    }
    const LogEvent* last = nullptr;
    const char* words = "";
    for (const HostWork& work : kHostWork) {
      for (const LogEvent* event : x_logs.of(work.kind)) {
        const bool later = last == nullptr || event->input > last->input ||
                           (event->input == last->input && event->last_line > last->last_line);
        if (!later) continue;
        last = event;
        words = event->code == 0 || work.kind == LogEventKind::kDataLoading ? work.words : "";
      }
    }
    if (last == nullptr) return false;
    settle(place, Confidence::kMedium, words);
    cite(detect::cite(x_logs, *last));
    if (place == LaunchPlace::kAfterInit) cite_ready();
    return true;
  }

  // "Init torch distributed begin", "distributed_init_method=… backend=nccl", and nothing behind it.
  bool begun_without_communicator() {
    const EventRefs& begun = x_logs.of(LogEventKind::kDistributedInitBegin);
    if (begun.empty() || x_logs.has(LogEventKind::kDistributedInitEnd) || ready_communicators() > 0)
      return false;
    if (x_case.logs.nccl_lines > 0) {
      settle(LaunchPlace::kNcclInit, Confidence::kLow, "NCCL is loaded, no communicator was begun");
    } else {
      settle(LaunchPlace::kBeforeNccl, Confidence::kMedium,
             "distributed start-up was begun (store, process group)");
    }
    cite(detect::cite(x_logs, *begun.back()));
    return true;
  }

 public:
  bool counts_steps() const { return x_counts_steps; }
  bool gave_up() const { return x_gave_up; }
  bool moves() const { return x_moves; }
  bool saw_stacks() const { return !x_work.empty(); }

 private:
  const Case& x_case;
  const LaunchFacts& x_facts;
  LogAnalysis x_logs;
  LaunchStage x_stage;
  std::map<LaunchWork, std::size_t> x_work;
  std::map<LaunchWork, EvidenceItem> x_shown;
  std::size_t x_stacks = 0;  // processes with a known function
  std::int64_t x_enqueued = 0;
  bool x_counts_steps = false, x_gave_up = false, x_moves = false;
};

// Whether what stands has stood for long enough to be called standing: NCCL needs milliseconds on a node,
// seconds on thousands of GPUs.
bool long_enough(const LaunchFacts& facts) {
  constexpr double kShare = 0.3, kShortest = 0.5;
  const double quiet = facts.nccl_quiet_s.value_or(facts.silent_s.value_or(facts.ran_s));
  return quiet >= std::max(kShortest, std::min(10.0, facts.limit_s * kShare));
}

LaunchMovement movement_of(const LaunchStage& stage, const LaunchFacts& facts, bool counts_steps,
                           bool gave_up) {
  if (facts.ended) return LaunchMovement::kEnded;
  if (gave_up) return LaunchMovement::kStanding;
  const bool prints = facts.silent_s && *facts.silent_s <= quiet_limit(facts);
  const bool logs = facts.nccl_quiet_s && *facts.nccl_quiet_s <= quiet_limit(facts);
  if (counts_steps && (prints || logs)) return LaunchMovement::kAdvancing;
  const bool may_stand =
      stage.place == LaunchPlace::kNcclInit || stage.place == LaunchPlace::kFirstCollective;
  if (may_stand && stage.confidence != Confidence::kLow && long_enough(facts))
    return LaunchMovement::kStanding;
  return prints ? LaunchMovement::kPrinting : LaunchMovement::kSilent;
}

// Whether any tool showed what a process calls.
bool any_frames(const model::Case* joined) {
  if (joined == nullptr) return false;
  for (const model::ProcessReading& reading : joined->processes) {
    for (const model::ThreadSample& thread : reading.sample.threads) {
      if (!thread.frames.empty()) return true;
    }
  }
  return false;
}

}  // namespace

LaunchStage judge_launch(const Case* joined, const LaunchFacts& facts) {
  LaunchStage stage;
  bool counts_steps = false, saw_stacks = false, gave_up = false, moves = false;
  if (joined != nullptr) {
    Judge judge(*joined, facts);
    stage = judge.run();
    counts_steps = judge.counts_steps();
    saw_stacks = judge.saw_stacks();
    gave_up = judge.gave_up();
    moves = judge.moves();
  } else {
    stage.place = facts.nccl_began_s ? LaunchPlace::kUnknown : LaunchPlace::kBeforeNccl;
    stage.not_seen.push_back("no evidence could be read: this is by what it printed alone");
  }
  stage.movement = movement_of(stage, facts, counts_steps, gave_up);
  if (moves && !facts.ended) stage.movement = LaunchMovement::kAdvancing;
  const std::string detail = std::move(stage.headline);
  stage.headline = launch_headline(stage, facts);
  if (!detail.empty()) stage.headline += "; " + detail;
  if (!facts.ended && !saw_stacks)
    stage.not_seen.push_back(
        any_frames(joined) ? "stacks were seen, and no function in them that unhang knows"
                           : "no stacks: where py-spy or gdb is installed and may look, the place is surer");
  if (facts.output_bytes == 0)
    stage.not_seen.push_back("it printed nothing at all; Python keeps output back until PYTHONUNBUFFERED=1");
  return stage;
}

}  // namespace unhang::detect
