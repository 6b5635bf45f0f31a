// SPDX-License-Identifier: Apache-2.0
#include "detect/nothing_wrong.h"

#include <algorithm>
#include <utility>

#include "detect/logs_quiet.h"
#include "detect/process_words.h"
#include "detect/ras_naming.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Category;
using model::Verdict;

// From dumps: whether enough of them are whole, and what they hold.
void say_of_dumps(const model::Case& joined, Verdict& verdict) {
  const std::size_t strangers = count_strangers(joined);
  const auto whole = std::count_if(joined.ranks.begin(), joined.ranks.end(),
                                   [](const model::Rank& rank) { return rank.tail_known; });
  const bool enough = whole > 0 && std::cmp_greater_equal(whole * 2, joined.ranks.size()) && strangers == 0;
  verdict.category = enough ? Category::kHealthy : Category::kInconclusive;
  std::size_t operations = 0;
  std::size_t dumps = 0;
  for (const model::Rank& rank : joined.ranks) {
    operations += rank.operations.size();
    dumps += rank.input ? 1 : 0;
  }
  verdict.headline = operations == 0
                         ? "the dumps of " + std::to_string(dumps) + plural(dumps, " rank", " ranks") +
                               " hold no operations: nothing wrong is seen"
                         : "nothing wrong is seen: all " + std::to_string(operations) + " operations of " +
                               std::to_string(dumps) + plural(dumps, " rank", " ranks") + " are finished";
  if (whole == 0) verdict.headline = "too little was read to say anything: no dump could be used to its end";
  if (whole > 0 && std::cmp_less(whole * 2, joined.ranks.size())) {
    verdict.headline = "too little was read to say anything: only " + std::to_string(whole) + " of " +
                       std::to_string(joined.ranks.size()) + " ranks left a whole dump";
  }
}

std::string answers_text(std::size_t count) {
  return count == 1 ? "one RAS answer" : std::to_string(count) + " RAS answers";
}

// The table of a text answer tells the state of communicators that it does not name.
bool say_of_rows(const model::RasView& view, Verdict& verdict) {
  for (const model::RasRow& row : view.rows) {
    const bool init = row.status == model::RasStatus::kInit;
    const bool odd = row.incomplete || row.error || row.mismatch;
    if (!init && row.status != model::RasStatus::kAbort && !odd) continue;
    verdict.category = Category::kInconclusive;
    const std::string who =
        (row.communicators == 1 ? "a communicator" : std::to_string(row.communicators) + " communicators") +
        " of " + std::to_string(row.size) + " ranks";
    if (odd) {
      verdict.headline = "the answer marks " + who + " as " +
                         (row.incomplete ? "incomplete"
                          : row.error    ? "in error"
                                         : "mismatched") +
                         " and does not say which ranks: ask for JSON";
    } else if (init) {
      verdict.state = model::State::kStarting;
      verdict.headline = "all ranks of " + who + " are still initialising";
    } else {
      verdict.headline = "all ranks of " + who + " have aborted: this is the end of a job, not its hang";
    }
    return true;
  }
  return false;
}

// The others run ahead for a while when one stands: launches wait for nobody until the queue is full.
void say_who_stood(const RasAnalysis& ras, Verdict& verdict) {
  for (const RasCommunicatorState& state : ras.communicators) {
    if (!state.moving || state.progress.frozen_laggards.empty()) continue;
    verdict.category = Category::kInconclusive;
    verdict.confidence = model::Confidence::kLow;
    verdict.headline += "; but " + ranks_text(state.progress.frozen_laggards) + " of " + state.label +
                        plural(state.progress.frozen_laggards.size(), " is", " are") +
                        " behind and did not move: ask again";
    return;
  }
}

// From RAS alone. Equal counts are what a healthy job and one that hangs in a single operation both show.
void say_of_ras(const Analysis& analysis, Verdict& verdict) {
  const RasAnalysis& ras = analysis.ras;
  const auto moving = std::count_if(ras.communicators.begin(), ras.communicators.end(),
                                    [](const auto& state) { return state.moving; });
  const std::size_t views = analysis.joined.ras.views.size();
  if (moving > 0) {
    verdict.category = Category::kHealthy;
    verdict.state = model::State::kAdvancing;
    verdict.confidence = model::Confidence::kMedium;
    verdict.headline = "it advances: counts grew in " + std::to_string(moving) + " of " +
                       std::to_string(ras.communicators.size()) +
                       plural(ras.communicators.size(), " communicator", " communicators") + " between " +
                       answers_text(views);
    say_who_stood(ras, verdict);
    return;
  }
  if (!ras.latest->complete || (ras.latest->corrupt && ras.communicators.empty())) {
    verdict.category = Category::kInconclusive;
    verdict.headline = ras.latest->complete
                           ? "the RAS answer is damaged as some releases do: nothing follows from it"
                           : "the RAS answer is cut off before its end: nothing wrong is seen in what came";
    return;
  }
  if (ras.latest->corrupt) {
    verdict.category = Category::kInconclusive;
    verdict.headline = "a part of the RAS answer is damaged, as known of NCCL " + ras.latest->nccl_version +
                       "; nothing wrong is seen in the sound part";
    return;
  }
  verdict.category = count_strangers(analysis.joined) == 0 ? Category::kHealthy : Category::kInconclusive;
  if (ras.communicators.empty() && ras.latest->rows.empty()) {
    verdict.headline = "RAS answers and knows of no communicator yet: nothing wrong is seen";
    return;
  }
  if (say_of_rows(*ras.latest, verdict)) return;
  verdict.headline = "nothing wrong is seen in " + answers_text(views) +
                     ": every process answers and no rank is behind; whether it moves is not known";
}

// Engines alone, or beside RAS: a token is the best sign of life there is.
bool say_of_engines(const Analysis& analysis, Verdict& verdict) {
  const auto with = [&](EngineMovement movement) {
    return std::find_if(analysis.engines.begin(), analysis.engines.end(), [&](const EngineEvidence& engine) {
      return engine.timed && engine.judgement.usable && engine.judgement.movement == movement;
    });
  };
  const struct {
    EngineMovement movement;
    model::State state;
    std::string_view says;
  } kinds[] = {{EngineMovement::kAdvancing, model::State::kAdvancing, "makes tokens"},
               {EngineMovement::kStarting, model::State::kStarting, "is starting"},
               {EngineMovement::kIdle, model::State::kIdle, "has nothing to do"}};
  for (const auto& kind : kinds) {
    const auto engine = with(kind.movement);
    if (engine == analysis.engines.end()) continue;
    verdict.category = Category::kHealthy;
    verdict.state = kind.state;
    verdict.confidence = model::Confidence::kMedium;
    verdict.headline =
        "the engine at " + engine->engine + " " + std::string(kind.says) + ": " + engine->judgement.says;
    return true;
  }
  return false;
}

}  // namespace

std::size_t count_strangers(const model::Case& joined) {
  return static_cast<std::size_t>(
      std::count_if(joined.set_aside.begin(), joined.set_aside.end(),
                    [](const model::SetAside& aside) { return !aside.is_second; }));
}

void say_nothing_wrong(const Analysis& analysis, Verdict& verdict) {
  const model::Case& joined = analysis.joined;
  verdict.cause = "unknown";
  verdict.state = model::State::kUnknown;
  verdict.confidence = model::Confidence::kLow;
  if (!joined.has_dumps && !analysis.ras.asked() && analysis.engines.empty() && !joined.bundles.empty() &&
      joined.ras.events.empty() && joined.processes.empty()) {
    verdict.category = Category::kInconclusive;
    verdict.headline = "the capture got no answer from the job: neither RAS, an engine nor a dump";
    return;
  }
  const bool only_processes = !joined.processes.empty() && !joined.has_dumps && !analysis.ras.asked() &&
                              analysis.engines.empty() && joined.ras.events.empty();
  if (only_processes && !analysis.logs.present()) {
    verdict.category = Category::kInconclusive;
    verdict.headline = processes_words(joined) + "; that alone shows no hang";
    return;
  }
  if (!joined.has_dumps && !analysis.ras.asked() && analysis.engines.empty() && analysis.logs.present() &&
      joined.ras.events.empty()) {
    say_of_logs(analysis.logs, verdict);
    // Lines that say nothing, the kernel's say, are not what a look at processes was taken for.
    const bool quiet = verdict.category == Category::kInconclusive && !analysis.logs.somebody_waited;
    if (quiet && !joined.processes.empty())
      verdict.headline = processes_words(joined) + "; neither that nor any line of a log shows a hang";
    return;
  }
  const bool ras_advances = std::any_of(analysis.ras.communicators.begin(), analysis.ras.communicators.end(),
                                        [](const auto& state) { return state.moving; });
  if (!joined.has_dumps && !ras_advances && say_of_engines(analysis, verdict)) return;
  if (joined.has_dumps || (!analysis.ras.asked() && analysis.engines.empty())) {
    say_of_dumps(joined, verdict);
    if (ras_advances && verdict.category == Category::kHealthy) {
      verdict.state = model::State::kAdvancing;  // slow or not, counts do not tell
      verdict.headline += "; it advances: counts grew between " + answers_text(joined.ras.views.size());
    }
  } else if (!analysis.ras.asked()) {
    verdict.category = Category::kInconclusive;
    verdict.headline = "the engine's counters alone, at one moment, show no movement";
  } else {
    say_of_ras(analysis, verdict);
  }
  const std::size_t strangers = count_strangers(joined);
  if (strangers != 0) {
    verdict.headline += "; " + std::to_string(strangers) + plural(strangers, " file was", " files were") +
                        " set aside as not of this job (-v): diagnose them by themselves";
  }
}

}  // namespace unhang::detect
