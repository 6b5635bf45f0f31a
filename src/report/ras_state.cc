// SPDX-License-Identifier: Apache-2.0
#include "report/ras_state.h"

#include <algorithm>

namespace unhang::report {

using model::RasPresence;
using model::RasStatus;

RasPresenceCount count_presence(const model::RasCommunicator& communicator) {
  RasPresenceCount count;
  for (const model::RasRank& rank : communicator.ranks) {
    switch (rank.presence) {
      case RasPresence::kAnswered:
        ++count.answered;
        break;
      case RasPresence::kNoCommunicator:
        ++count.no_communicator;
        break;
      case RasPresence::kUnresponsive:
        ++count.unresponsive;
        break;
      case RasPresence::kDead:
        ++count.dead;
        break;
      case RasPresence::kMissing:
        ++count.missing;
        break;
    }
    if (model::is_nccl_error(rank.init_state) || model::is_nccl_error(rank.async_error)) ++count.errors;
  }
  for (const model::RasErrorShare& share : communicator.error_shares) {
    count.errors = std::max<std::size_t>(count.errors, share.ranks);
  }
  // A text answer may say how many are missing without naming them.
  const std::size_t unnamed =
      communicator.missing_ranks > count.lost() ? communicator.missing_ranks - count.lost() : 0;
  count.missing += unnamed;
  return count;
}

namespace {

bool shows_movement(const RasCommunicatorState& state, const char* movement) {
  return state.movement && state.movement->movement == movement;
}

RasLook look_of(const model::RasCommunicator& communicator, const RasCommunicatorState& state) {
  const RasPresenceCount count = count_presence(communicator);
  if (count.lost() > 0 || count.errors > 0) return RasLook::kBad;
  if (state.movement && !state.movement->frozen_laggards.empty()) return RasLook::kBad;
  if (shows_movement(state, "frozen")) return RasLook::kBad;
  const bool aborted =
      std::any_of(communicator.ranks.begin(), communicator.ranks.end(),
                  [](const model::RasRank& rank) { return rank.status == RasStatus::kAbort; });
  if (count.no_communicator > 0 || aborted || communicator.incomplete || communicator.error)
    return RasLook::kUnknown;
  if (shows_movement(state, "advancing") || shows_movement(state, "idle")) return RasLook::kQuiet;
  if (state.movement) return RasLook::kUnknown;
  const bool differs =
      communicator.mismatch || std::any_of(state.counts.begin(), state.counts.end(),
                                           [](const RasCountState& c) { return c.least != c.most; });
  return differs ? RasLook::kUnknown : RasLook::kQuiet;
}

}  // namespace

RasLook look_of(const RasJobState& job) {
  RasLook worst = job.view.complete && !job.view.corrupt ? RasLook::kQuiet : RasLook::kUnknown;
  if (!job.view.lost_processes.empty()) worst = RasLook::kBad;
  for (std::size_t i = 0; i < job.communicators.size(); ++i) {
    worst = std::max(worst, look_of(job.view.communicators[i], job.communicators[i]));
  }
  for (const model::RasRow& row : job.view.rows) {
    if (row.incomplete || row.error || row.mismatch || row.status == RasStatus::kAbort)
      worst = std::max(worst, RasLook::kUnknown);
  }
  return worst;
}

RasLook look_of(const RasState& state) {
  RasLook worst = state.troubles.empty() ? RasLook::kQuiet : RasLook::kUnknown;
  for (const RasJobState& job : state.jobs) worst = std::max(worst, look_of(job));
  return worst;
}

}  // namespace unhang::report
