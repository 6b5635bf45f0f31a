// SPDX-License-Identifier: Apache-2.0
#include "cli/ras_state_of.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/exit_codes.h"
#include "formats/catalogue.h"
#include "join/ras_jobs.h"

namespace unhang::cli {
namespace {

// Least and most of each collective, whether they differ or not.
void add_counts(const model::RasCommunicator& communicator, report::RasCommunicatorState& state) {
  for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
    const auto collective = static_cast<model::RasCollective>(i);
    std::vector<std::uint64_t> values;
    for (const model::RasRank& rank : communicator.ranks) {
      if (rank.counts[i]) values.push_back(*rank.counts[i]);
    }
    for (const model::RasShare& share : communicator.shares) {
      if (share.collective == collective) values.push_back(share.count);
    }
    if (values.empty()) continue;
    report::RasCountState counts;
    counts.collective = collective;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    counts.least = *least;
    counts.most = counts.majority = *most;
    state.counts.push_back(std::move(counts));
  }
}

report::RasCommunicatorState state_of(const model::RasCommunicator& communicator) {
  report::RasCommunicatorState state;
  add_counts(communicator, state);
  const detect::RasSkew skew = detect::skew_of(communicator);
  state.laggards = skew.laggards;
  state.leaders = skew.leaders;
  state.other_operation = skew.other_operation;
  state.tie = skew.tie;
  for (const detect::RasCountSkew& from : skew.counts) {
    for (report::RasCountState& into : state.counts) {
      if (into.collective != from.collective) continue;
      into = {from.collective,
              from.least,
              from.most,
              from.majority,
              from.tie,
              from.laggards,
              from.leaders,
              from.unnamed_laggards,
              from.unnamed_leaders};
    }
  }
  return state;
}

}  // namespace

report::RasState ras_state_of(const collect::RasPoll& poll) {
  report::RasState state;
  state.notes = poll.notes;
  std::vector<join::AskedAnswer> answers;
  for (std::size_t i = 0; i < poll.replies.size(); ++i) {
    const collect::RasReply& reply = poll.replies[i];
    formats::Evidence evidence;
    if (!reply.bytes.empty()) evidence = formats::read_evidence(reply.resolved, reply.bytes);
    for (model::RasAnswer& answer : evidence.ras_answers) {
      answers.push_back({std::move(answer), static_cast<std::uint32_t>(i), reply.started_ns});
    }
    if (!reply.trouble.empty()) {
      state.troubles.push_back(
          {reply.asked, reply.trouble, reply.refused, reply.deadline, !evidence.ras_answers.empty()});
    } else if (evidence.ras_answers.empty()) {
      state.troubles.push_back({reply.asked, fmt::format("{}: its answer cannot be read", reply.resolved)});
    }
    for (const model::ImportProblem& problem : evidence.problems) {
      if (problem.severity == model::Severity::kInfo) continue;
      state.notes.push_back(fmt::format("{}: {}", reply.resolved, base::printable(problem.text)));
    }
  }
  for (join::RasHistory& history : join::unite_ras(std::move(answers), true)) {
    for (model::RasView& view : history) {
      report::RasJobState job;
      job.view = std::move(view);
      for (const std::uint32_t source : job.view.sources) {
        const std::string& where = poll.replies[source].resolved;
        if (std::find(job.answered_at.begin(), job.answered_at.end(), where) == job.answered_at.end())
          job.answered_at.push_back(where);
      }
      for (const model::RasCommunicator& communicator : job.view.communicators)
        job.communicators.push_back(state_of(communicator));
      state.jobs.push_back(std::move(job));
    }
  }
  return state;
}

namespace {

using Process = std::pair<std::string, std::int64_t>;

std::set<Process> processes_of(const model::RasView& view) {
  std::set<Process> processes;
  for (const model::RasCommunicator& communicator : view.communicators) {
    for (const model::RasRank& rank : communicator.ranks) {
      if (rank.pid >= 0) processes.emplace(rank.host, rank.pid);
    }
  }
  return processes;
}

// How much two views have in common; nothing at all for a text answer that names nobody.
std::size_t in_common(const model::RasView& a, const model::RasView& b) {
  std::size_t common = 0;
  for (const model::RasCommunicator& one : a.communicators) {
    for (const model::RasCommunicator& other : b.communicators) common += one.hash == other.hash ? 1 : 0;
  }
  const std::set<Process> known = processes_of(a);
  for (const Process& process : processes_of(b)) common += known.count(process);
  return common;
}

}  // namespace

RasJobTracks::Track& RasJobTracks::track_of(const model::RasView& view, std::vector<bool>& taken) {
  std::size_t best = x_tracks.size(), most = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) continue;
    const bool nameless = view.communicators.empty() || x_tracks[i].latest.communicators.empty();
    const bool same_shape = nameless && view.processes == x_tracks[i].latest.processes;
    const std::size_t common = in_common(view, x_tracks[i].latest) + (same_shape ? 1 : 0);
    if (common > most) {
      most = common;
      best = i;
    }
  }
  if (best == x_tracks.size()) {
    x_tracks.push_back({detect::RasProgress(x_frozen_after_ns), {}});
    taken.push_back(false);
  }
  taken[best] = true;
  return x_tracks[best];
}

int ras_exit_code(const report::RasState& state) {
  if (state.jobs.empty()) {
    const bool late = std::any_of(state.troubles.begin(), state.troubles.end(),
                                  [](const report::RasTroubleState& trouble) { return trouble.deadline; });
    return late ? kExitDeadline : kExitUnavailable;
  }
  switch (report::look_of(state)) {
    case report::RasLook::kQuiet:
      return kExitOk;
    case report::RasLook::kUnknown:
      return kExitUnknown;
    case report::RasLook::kBad:
      return kExitStopped;
  }
  return kExitUnknown;
}

void RasJobTracks::follow(report::RasState& state, std::int64_t now_ns) {
  std::vector<bool> taken(x_tracks.size(), false);
  for (report::RasJobState& job : state.jobs) {
    Track& track = track_of(job.view, taken);
    track.progress.observe(job.view, now_ns);
    track.latest = job.view;
    for (const detect::RasCommunicatorProgress& progress : track.progress.state()) {
      for (std::size_t i = 0; i < job.communicators.size(); ++i) {
        const model::RasCommunicator& communicator = job.view.communicators[i];
        if (communicator.hash != progress.hash || communicator.secondary_hash != progress.secondary_hash)
          continue;
        job.communicators[i].movement =
            report::RasMovementState{std::string(detect::name_of(progress.movement)), progress.why,
                                     progress.frozen_laggards, progress.last_moved_ns, progress.lag_since_ns};
      }
    }
  }
}

}  // namespace unhang::cli
