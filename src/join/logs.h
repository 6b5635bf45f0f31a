// SPDX-License-Identifier: Apache-2.0
//
// Joins the logs of all files into one: writers that are the same become one, the year of times without one
// is taken from their neighbours, times without a zone become UTC where somebody gave the zone, and each
// writer gets the rank that any line of its process tells.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/case.h"
#include "model/log.h"

namespace unhang::join {

struct LogHints {
  std::optional<std::int32_t> year;     // of times that have none
  std::optional<std::int64_t> zone_ns;  // east of UTC, of times that state none; absent: they stay local
};

class LogJoin {
 public:
  // In the order of the inputs.
  void add(model::Log log, model::InputIndex input);
  // What this input added does not count.
  void drop(model::InputIndex input);
  // What `log` tells of each input, before they are one.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (const Piece& piece : x_pieces) visit(piece.input, piece.log);
  }
  // The hosts that lines name, and the inputs in which no line names one.
  std::set<std::string, std::less<>> hosts() const;
  std::vector<model::InputIndex> without_host() const;
  // All lines of this input were written on `host`. Empty: nothing changes.
  void name_host(model::InputIndex input, const std::string& host);
  // Linear in the facts, but for sorting the writers. `world`: how many ranks the job has, where other
  // evidence says so.
  model::Log finish(const std::vector<model::Input>& inputs, const LogHints& hints,
                    std::optional<std::int32_t> world = {});
  // After finish(): whose dates had no year, and where it was taken from.
  const std::vector<model::TimeAssumption>& assumptions() const { return x_assumptions; }

 private:
  struct Piece {
    model::Log log;
    model::InputIndex input = 0;
  };
  std::vector<Piece> x_pieces;
  std::vector<model::TimeAssumption> x_assumptions;
};

// Nanoseconds since 1970 of a time without year, in the year that puts it nearest to `near_ns` (within half a
// year); `ns` counts in 1972.
std::int64_t with_year(std::int64_t ns, std::int64_t near_ns);

}  // namespace unhang::join
