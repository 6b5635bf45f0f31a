// SPDX-License-Identifier: Apache-2.0
//
// What RAS counts tell about progress: at one moment (who is behind, who is ahead) and over time (who moves).
// Counts are launches by the host: equal counts that stand still may be an idle job or one in which everybody
// waits in the same operation, and only a second signal can tell which.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/ras_view.h"

namespace unhang::detect {

// The counts of one collective in one communicator, of the ranks that run.
struct RasCountSkew {
  model::RasCollective collective = model::RasCollective::kAny;
  std::uint64_t least = 0, most = 0;
  std::uint64_t majority = 0;          // the count that most ranks have; of a tie: the highest of them
  bool tie = false;                    // two counts have equally many ranks
  std::vector<std::int32_t> laggards;  // below the majority, ascending; of a tie: below the highest
  std::vector<std::int32_t> leaders;   // above the majority, ascending
  std::uint32_t unnamed_laggards = 0;  // a text answer says how many, and not who
  std::uint32_t unnamed_leaders = 0;
};

struct RasSkew {
  std::vector<RasCountSkew> counts;  // only collectives whose counts differ
  // Behind in one collective and ahead in another: it called something else, and is no laggard.
  std::vector<std::int32_t> other_operation;
  // Of the whole communicator, without other_operation: behind in some collective and ahead in none.
  std::vector<std::int32_t> laggards, leaders;
  bool tie = false;  // in a collective with laggards
};

// Complexity: ranks x log ranks.
RasSkew skew_of(const model::RasCommunicator& communicator);

enum class Movement : std::uint8_t { kUnknown, kIdle, kAdvancing, kLagging, kFrozen };
std::string_view name_of(Movement value);

struct RasCommunicatorProgress {
  std::uint64_t hash = 0;
  std::string secondary_hash;
  std::int32_t size = -1;
  Movement movement = Movement::kUnknown;
  std::string why;  // for kUnknown: why it cannot be told
  RasSkew skew;     // of the latest view
  // Behind the majority, and not moved for as long as was needed to call it so.
  std::vector<std::int32_t> frozen_laggards;
  std::int64_t watched_since_ns = 0;          // first view with this communicator
  std::int64_t seen_ns = 0;                   // latest view with it
  std::optional<std::int64_t> last_moved_ns;  // when a count was last seen to have grown
  std::optional<std::int64_t> lag_since_ns;   // since when the same ranks are behind without moving
  std::vector<std::pair<std::int32_t, Movement>> ranks;  // ascending rank
};

// Fed with one view after the other of one job. Not thread-safe. Memory: one record a rank and communicator.
class RasProgress {
 public:
  // No movement for this long is needed before a communicator or rank is called frozen; two views less apart
  // prove nothing. `now_ns` never falls.
  explicit RasProgress(std::int64_t frozen_after_ns = 5'000'000'000) : x_frozen_after_ns(frozen_after_ns) {}

  void observe(const model::RasView& view, std::int64_t now_ns);

  // `work_in_flight`: another signal says that work is (or is not) waiting to be done; nullopt: no such
  // signal.
  std::vector<RasCommunicatorProgress> state(std::optional<bool> work_in_flight = {}) const;

 private:
  struct RankHistory {
    std::int32_t rank = -1;
    std::array<std::optional<std::uint64_t>, model::kRasCollectives> counts;
    std::int64_t first_ns = 0;
    std::int64_t seen_ns = 0;
    std::int64_t moved_ns = 0;  // or first seen
    bool moved = false;
  };
  struct History {
    std::uint64_t hash = 0;
    std::string secondary_hash;
    std::int32_t size = -1;
    RasSkew skew;                    // of the latest view
    std::vector<RankHistory> ranks;  // ascending rank
    std::int64_t first_ns = 0, seen_ns = 0;
    std::optional<std::int64_t> moved_ns;
    std::vector<std::int32_t> laggards;
    std::optional<std::int64_t> lag_since_ns;
  };

  void follow(History& history, const model::RasCommunicator& communicator, std::int64_t now_ns) const;
  Movement movement_of(const History& history, const RankHistory& rank, bool behind) const;
  RasCommunicatorProgress judge(const History& history, std::optional<bool> work_in_flight) const;

  std::int64_t x_frozen_after_ns;
  std::int64_t x_now_ns = 0;
  std::vector<History> x_histories;  // ascending (hash, secondary hash)
};

}  // namespace unhang::detect
