// SPDX-License-Identifier: Apache-2.0
//
// What the readers of one file share: where the findings go, which problems there were, and how much more may
// be taken from it. A file of many answers reports each kind of problem once, with a count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/evidence.h"

namespace unhang::formats::ras {

// Ranks, shares, processes and events of one file; a week of polls of a large job stays below it.
inline constexpr std::uint64_t kMaxRecords = 4'000'000;
// Ranks of one file that no line names but that follow from the others.
inline constexpr std::uint64_t kMaxDeduced = 500'000;
// Ranks of one communicator; numbers beyond it are garbage.
inline constexpr std::int64_t kMaxRanks = 1 << 22;

// One line of the input without its end.
struct Line {
  std::string_view text;
  std::uint64_t number = 0;  // from 1
  std::uint64_t offset = 0;
  bool ended = true;  // false: the input stops here, in the middle of it perhaps
};

class Reading {
 public:
  explicit Reading(Evidence& evidence) : x_evidence(evidence) {}

  Evidence& evidence() { return x_evidence; }

  // The first of each code gives the text; the others are counted. `line` 0: not known.
  void problem(model::Severity severity, std::string_view code, std::string text, std::uint64_t line,
               std::uint64_t offset, std::uint64_t bytes_lost = 0);

  // Whether one more record may be kept; when not, that becomes a problem.
  bool take_record(std::uint64_t line);
  void return_records(std::uint64_t count) { x_records -= count; }
  // The same for `count` ranks that are deduced.
  bool take_deduced(std::uint64_t count, std::uint64_t line);

  bool has_problems() const { return !x_problems.empty(); }

  // Hands the problems over.
  void finish();

 private:
  struct Folded {
    model::ImportProblem problem;
    std::uint64_t line = 0;
    std::uint64_t count = 1;
  };

  Evidence& x_evidence;
  std::vector<Folded> x_problems;
  std::uint64_t x_records = 0;
  std::uint64_t x_deduced = 0;
};

}  // namespace unhang::formats::ras
