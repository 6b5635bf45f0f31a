// SPDX-License-Identifier: Apache-2.0
//
// What live RAS services said, ready to be shown: the jobs that answered, what their counts say about who is
// behind, and who did not answer. Put together by cli/; the renderers (ras_screen.h, ras_json.h) only show
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ras_view.h"

namespace unhang::report {

// One collective in one communicator, over the ranks whose counts are known.
struct RasCountState {
  model::RasCollective collective = model::RasCollective::kAny;
  std::uint64_t least = 0, most = 0;
  std::uint64_t majority = 0;  // where they differ
  bool tie = false;            // no count has more ranks than each other one
  std::vector<std::int32_t> laggards, leaders;
  std::uint32_t unnamed_laggards = 0, unnamed_leaders = 0;  // a text answer says how many, and not who
};

// What several answers in time order say (`watch`).
struct RasMovementState {
  std::string movement;  // "advancing", "lagging", "frozen", "idle", "unknown"
  std::string why;       // why it is not known
  std::vector<std::int32_t> frozen_laggards;
  std::optional<std::int64_t> last_moved_ns, lag_since_ns;  // wall clock
};

struct RasCommunicatorState {
  std::vector<RasCountState> counts;
  std::vector<std::int32_t> laggards, leaders;  // in some collective, and nowhere the other way round
  std::vector<std::int32_t> other_operation;    // behind in one, ahead in another
  bool tie = false;
  std::optional<RasMovementState> movement;
};

struct RasJobState {
  model::RasView view;
  std::vector<std::string> answered_at;             // "[::1]:28028", each once
  std::vector<RasCommunicatorState> communicators;  // as many as the view has, in its order
};

struct RasTroubleState {
  std::string asked;
  std::string text;
  bool refused = false;   // we did not ask
  bool deadline = false;  // the time was over
  bool partial = false;   // there is an answer, but not all of it
};

struct RasState {
  std::optional<std::int64_t> time_ns;  // wall clock; nullopt: not shown
  std::vector<RasJobState> jobs;
  std::vector<RasTroubleState> troubles;
  std::vector<std::string> notes;
};

// How many ranks stand where, for one communicator.
struct RasPresenceCount {
  std::size_t answered = 0, no_communicator = 0, unresponsive = 0, dead = 0, missing = 0, errors = 0;
  std::size_t lost() const { return unresponsive + dead + missing; }
};
RasPresenceCount count_presence(const model::RasCommunicator& communicator);

// How bad it looks, from one answer or many.
enum class RasLook {
  kQuiet,    // nothing wrong was seen
  kUnknown,  // something differs, or could not be seen: ask again
  kBad,      // a process is gone or mute, or reported an error
};
RasLook look_of(const RasJobState& job);
RasLook look_of(const RasState& state);

}  // namespace unhang::report
