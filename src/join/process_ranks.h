// SPDX-License-Identifier: Apache-2.0
//
// Which rank a process is, from whatever says so: dumps and RAS (the ranks of the Case), the lines of logs,
// the environments that a bundle kept.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/case.h"

namespace unhang::join {

// "gpu-b07.cluster.example" and "gpu-b07" are one host; an empty one is any.
bool may_be_same_host(std::string_view one, std::string_view other);

class ProcessRanks {
 public:
  explicit ProcessRanks(const model::Case& joined);

  // -1: nothing says so, or two sources say different things.
  std::int32_t find(std::string_view host, std::int64_t pid) const;

 private:
  void add(std::string_view host, std::int64_t pid, std::int32_t rank);

  std::map<std::int64_t, std::set<std::pair<std::string, std::int32_t>>> x_by_pid;
};

}  // namespace unhang::join
