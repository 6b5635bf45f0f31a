// SPDX-License-Identifier: Apache-2.0
//
// Puts ranks of a communicator into an explanation: as ranks of the job where RAS says which they are, else
// by their place in the communicator.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "detect/explanation.h"
#include "detect/ras_analysis.h"
#include "model/ras_rank.h"

namespace unhang::detect {

// Collects culprits or suspects of several communicators, each once, with the first reason given.
class RasNames {
 public:
  explicit RasNames(const model::Case& joined) : x_case(joined) {}

  void add(const RasCommunicatorState& state, std::int32_t rank, const std::string& why);
  bool empty() const { return x_ranks.empty() && x_others.empty(); }
  // Its text() names the communicator already.
  bool tells_communicator() const { return !x_others.empty(); }
  std::size_t size() const { return x_ranks.size() + x_others.size(); }

  void make_culprits(Explanation& explanation) const;
  void make_suspects(Explanation& explanation) const;

  // "rank 5", "ranks 0-3", "rank 2 of communicator b79e…"
  std::string text() const;

 private:
  const model::Case& x_case;
  std::map<model::RankIndex, std::string> x_ranks;
  std::vector<model::Subject> x_others;
  // Label and rank, or host, pid and device, of those.
  using Key = std::tuple<std::string, std::int32_t, std::string, std::int64_t>;
  std::set<Key> x_known;
};

// "rank 5", "ranks 0-3,7" of plain numbers.
std::string ranks_text(const std::vector<std::int32_t>& ranks);

// Cites the communicator and makes it the place of the trouble.
void cite_place(const model::Case& joined, const RasAnalysis& ras, const RasCommunicatorState& state,
                std::string text, Explanation& explanation);

// What rests on one answer or on little is the verdict only where nothing firmer explains the stall.
std::vector<Explanation> weak_is_tentative(std::vector<Explanation> found);

// How many ranks a text answer gives that status, named or not.
std::size_t ranks_with_status(const model::RasCommunicator& communicator, model::RasStatus status);

}  // namespace unhang::detect
