// SPDX-License-Identifier: Apache-2.0
//
// What logs warn of, each thing once: equal events of the processes of one host are one row, and so are the
// time-outs of the ranks of one group in one operation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.h"

namespace unhang::report {

struct LogWarning {
  model::LogRole role = model::LogRole::kNormal;
  const model::LogEvent* event = nullptr;  // the earliest, as far as their clocks compare; of the Case
  std::uint64_t count = 0;                 // lines
  std::string host;                        // empty: no line tells it; rows of all such writers are one
  std::vector<std::int32_t> ranks = {};    // whom the lines name, else who wrote them; ascending, unique
  model::LogTime first, last;
};

struct LogTimeout {
  const model::WatchdogTimeout* timeout = nullptr;  // the earliest, as LogWarning::event
  std::string group;                                // "default_pg (0)"; empty: no line names it
  std::size_t reporters = 0;                        // ranks that gave up, told apart as far as lines do
  std::vector<std::int32_t> ranks = {};             // global, or of the group (`ranks_of_group`)
  bool ranks_of_group = false;
  std::int64_t collapsed = 0;  // as many more that a log collector left out
  std::vector<std::string> hosts = {};
  model::LogTime first, last;
};

struct LogWarnings {
  std::vector<LogWarning> rows;      // causes, either, consequences, notes; each by time, then by place
  std::vector<LogTimeout> timeouts;  // by time, then by place
};

// "10.0.0.7" of "10.0.0.7<41234>": the port is another one for each connection.
std::string_view peer_without_port(std::string_view peer);

// `joined` outlives the result. Takes the time of sorting its events.
LogWarnings gather_log_warnings(const model::Case& joined);

}  // namespace unhang::report
