// SPDX-License-Identifier: Apache-2.0
//
// Puts together what several lines say of one time-out: the time-out itself (which names only the rank inside
// its group), the state of its group (which names the group), and the repetitions in the exception that ends
// the thread and in what() of the C++ runtime. One time-out is one record, in whatever order they come.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/log/collective_work.h"
#include "formats/log/facts.h"
#include "formats/log/group_prefix.h"

namespace unhang::formats::log {

class TimeoutRecords {
 public:
  struct Told {
    CollectiveWork work;
    GroupPrefix group;
    bool repeats = false;  // an exception's text: may come from a line that does not say whose it is
    bool blocking_wait = false;
    std::int64_t collapsed = 0;
  };
  void add(const Told& told, const Line& line, Facts& facts);

  // The state of a group at the collective `sequence`.
  void add_state(const GroupPrefix& group, std::int64_t sequence, std::int64_t enqueued,
                 std::int64_t completed, std::int64_t collapsed, const Line& line, Facts& facts);

 private:
  using Index = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;
  void remember(Index& index, std::uint64_t key, std::uint32_t record);
  model::WatchdogTimeout* known(const Told& told, const Line& line, Facts& facts);
  void add_new(model::WatchdogTimeout timeout, const Line& line, Facts& facts);

  Index x_of_writer;  // (writer, run, rank, sequence) -> Log::timeouts
  Index x_by_words;   // (run, rank, sequence, ran for) -> Log::timeouts
};

}  // namespace unhang::formats::log
