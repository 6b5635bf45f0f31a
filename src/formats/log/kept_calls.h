// SPDX-License-Identifier: Apache-2.0
//
// The latest collectives of each communicator, out of millions that a log lists: enough to see who called
// what last, in memory that the length of the log does not decide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/log/communicator_line.h"
#include "model/log.h"

namespace unhang::formats::log {

class KeptCalls {
 public:
  // `line`: where it stands. Amortised constant time.
  void add(std::uint32_t communicator, const CallLine& read, std::uint64_t line);
  // By communicator, each in the order in which they were made.
  std::vector<model::LogCall> take();

 private:
  struct Call {
    std::uint64_t op_count, count, line;
    std::int32_t datatype, op, root;
    std::uint32_t kind;  // index into x_kinds
  };
  struct Ring {
    std::vector<Call> calls;
    std::uint32_t oldest = 0;  // once it is full
  };

  std::uint32_t kind_of(std::string_view name);
  // Drops the communicators that were silent longest, until half of the room is free.
  void make_room();

  std::vector<Ring> x_rings;  // by communicator
  std::vector<std::string> x_kinds;
  std::size_t x_size = 0;  // of all rings
};

}  // namespace unhang::formats::log
