// SPDX-License-Identifier: Apache-2.0
//
// Who wrote a line of a log, as far as all the logs together tell: a rank that one line names counts for all
// lines of that process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/log.h"

namespace unhang::cli {

struct LogWriter {
  std::string host;        // empty: not known
  std::int32_t rank = -1;  // -1: not known
};

class LogWriters {
 public:
  // Of files that were not read before, nothing is known but what each line says.
  LogWriters() = default;
  // `logs[i]` is what file i told, `paths[i]` its name. Linear in their facts, but for sorting.
  LogWriters(std::vector<model::Log> logs, const std::vector<std::string>& paths);

  LogWriter of(std::size_t file, const model::LogOrigin& origin) const;

 private:
  std::map<std::tuple<std::string, std::int64_t, std::int32_t>, std::int32_t> x_ranks;  // host, pid, device
  std::map<std::int32_t, std::string> x_hosts;                                          // of ranks
  std::vector<LogWriter> x_files;  // of the only writer of a file
};

}  // namespace unhang::cli
