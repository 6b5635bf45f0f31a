// SPDX-License-Identifier: Apache-2.0
//
// torchrun's table of failures, one entry of several lines for each process that ended:
//   Root Cause (first observed failure):
//   [0]:
//     host      : node1
//     rank      : 3 (local_rank: 3)
//     exitcode  : -9 (pid: 14750)
//     traceback : Signal 9 (SIGKILL) received by PID 14750
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/log/facts.h"

namespace unhang::formats::log {

class TorchrunTable {
 public:
  // Lines of the table, also those that stand without the others.
  bool take(const Line& line, Facts& facts);
  bool open() const { return x_lines_left > 0; }
  // The last entry, where the file ends inside it.
  void finish(Facts& facts);

 private:
  struct Entry {
    std::string host;
    std::int32_t rank = -1;
    std::optional<std::int64_t> exit_code;
    Line line;  // without its views
    bool begun = false;
  };
  void begin_entry(Facts& facts);
  bool take_key(std::string_view key, std::string_view value, const Line& line, Facts& facts);

  Entry x_entry;
  bool x_root = false;
  int x_lines_left = 0;
};

}  // namespace unhang::formats::log
