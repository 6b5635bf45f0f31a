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

struct FoundDump {
  std::string root;
  std::string path;  // as its place sees it
  bool follow_last = false;
  std::int64_t pid = -1;  // of the process that writes it, on this machine; -1: not known
  bool stale = false;     // older than every process that could have written it
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::string target;  // where it goes in the bundle; unique
};

struct FoundDumps {
  std::vector<FoundDump> dumps;     // ascending target
  std::vector<std::string> looked;  // "/tmp/nccl_trace_rank_*": where, for people; each once
  std::vector<std::string> notes;   // what could not be looked at, and what was passed over
  bool not_allowed = false;         // some of it may not be read
};

FoundDumps find_dumps(const DumpSearch& search, const os::ReadDeadlines& deadlines);

}  // namespace unhang::collect
