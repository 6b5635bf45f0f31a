// SPDX-License-Identifier: Apache-2.0
//
// The files that NCCL writes while a launch runs: when the first line came, when communicators were complete,
// when a collective was first called, and how long ago the last line was written. NCCL prints no times by
// default, so they are taken here, to a quarter of a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace unhang::cli {

class NcclLogWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // `pattern` as NCCL_DEBUG_FILE has it: %h and %p stand for anything. Files from before are passed over.
  explicit NcclLogWatch(std::string pattern);

  void look(Time now);
  std::optional<Time> began, ready, first_call, last_line;
  // Those that belong to this launch, ascending.
  std::vector<std::string> files() const;

 private:
  struct File {
    std::uint64_t size = 0, read = 0;
    std::uint64_t begun_at = 0;  // what stands before it is of an earlier run
    bool is_old = false;         // it was there before and has not grown
    std::string rest;            // the end of what was read: a word may be cut
  };
  void list(const Time* now);  // null: what is there from before
  void read_more(const std::string& path, File& file, Time now);

  std::string x_folder, x_name;
  std::map<std::string, File> x_files;
};

}  // namespace unhang::cli
