// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom. A rank whose oldest unfinished collective other members have not entered waits for
// those members; a transfer without its other end waits for the peer. Following the arrows leads from the
// many that complain to the few that nobody else explains.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "detect/group_progress.h"
#include "detect/p2p_edges.h"
#include "model/case.h"

namespace unhang::detect {

// A place where ranks stand: one collective, or one transfer.
struct Stall {
  std::optional<std::size_t> transfer;  // index into the transfers; none: a collective
  model::GroupIndex group = 0;
  std::int64_t sequence = -1;  // of the collective
  std::vector<model::RankIndex> waiting;
  std::vector<model::RankIndex> absent;   // their evidence shows that they did not enter
  std::vector<model::RankIndex> unknown;  // their evidence is missing or cut off
  // Of those without a dump: RAS counts show that they launched what the others did, or their watchdogs gave
  // up on it. Whether it was the same call these do not show.
  std::vector<model::RankIndex> counted;
  std::int64_t since_ns = 0;  // median of when the waiting ones entered

  bool everyone_entered() const { return absent.empty() && unknown.empty(); }
};

struct RankWaits {
  std::vector<std::size_t> waits_in;   // stalls where it waits for somebody
  std::vector<std::size_t> stands_in;  // stalls where it stands although everyone has entered
  std::vector<std::size_t> absent_in;  // stalls where others wait for it
  std::vector<std::size_t> unknown_in;
  // RAS counts show it in one of the stalls, or its watchdog gave up on something: it waits there itself.
  bool counted = false;
  bool device_stopped = false;  // lags behind what its peers completed: waits for nobody but its own device

  bool waits() const { return !waits_in.empty() && !device_stopped; }
  bool stands() const { return !stands_in.empty() && !device_stopped; }
  bool waited_for() const { return !absent_in.empty() || !unknown_in.empty(); }
};

struct WaitGraph {
  std::vector<Stall> stalls;     // collectives by group and sequence, then transfers
  std::vector<RankWaits> ranks;  // by RankIndex

  // Fills `ranks` from the stalls; call after a stall was changed.
  void link();
  // Present ranks that others wait for and that wait for nobody: where the trouble is. Ascending.
  std::vector<model::RankIndex> roots() const;
  // Ranks without usable evidence that others wait for. Ascending.
  std::vector<model::RankIndex> silent() const;
  // Ranks that wait, directly or through others, but for none of `from`: what is left is caught in a cycle.
  std::vector<model::RankIndex> not_explained_by(const std::vector<model::RankIndex>& from) const;
};

WaitGraph build_wait_graph(const model::Case& joined, const std::vector<GroupProgress>& groups,
                           const std::vector<PendingTransfer>& transfers);

}  // namespace unhang::detect
