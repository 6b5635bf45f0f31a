// SPDX-License-Identifier: Apache-2.0
//
// What a capture of the corpus must hold, worked out from the truth beside it: the commands that the fleet of
// processes was given before it was asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/ras.h"

namespace unhang::formats::ras {

struct TrueRank {
  std::size_t process = 0;
  std::int64_t pid = -1;
  std::array<std::optional<std::uint64_t>, 5> counts{};  // nullopt: it moves
  int init = 0, async = 0;
  bool finalize = false, destroy = false, abort = false;
  bool gone = false;  // its process lives and does not have the communicator
};

struct TrueCommunicator {
  std::string name;
  std::vector<TrueRank> ranks;
};

struct Truth {
  std::map<std::uint64_t, TrueCommunicator> communicators;  // by hash
  std::set<std::size_t> lost;                               // processes that do not answer
  bool moving = false;                                      // counts change between the captures
  bool damaged = false;                                     // a known bug is at work

  bool is_lost(const TrueRank& rank) const { return lost.contains(rank.process); }
  model::RasStatus status(const TrueRank& rank) const;
};

Truth read_truth(const std::filesystem::path& path);

}  // namespace unhang::formats::ras
