// SPDX-License-Identifier: Apache-2.0
//
// The first half of flight_recorder_dumps.h: which files there are, each once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/dump_places.h"
#include "collect/flight_recorder_dumps.h"
#include "os/child_reader.h"

namespace unhang::collect {

struct FoundDumps {
  std::vector<FoundDump> dumps;     // ascending target
  std::vector<std::string> looked;  // "/tmp/nccl_trace_rank_*": where, for people; each once
  std::vector<std::string> notes;   // what could not be looked at, and what was passed over
  bool not_allowed = false;         // some of it may not be read
};

FoundDumps find_dumps(const DumpSearch& search, const os::ReadDeadlines& deadlines);

}  // namespace unhang::collect
