// SPDX-License-Identifier: Apache-2.0
//
// As whom, where and within which limits a running process runs, so that another program can be started in
// the same way. Its control group and namespaces are not part of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unhang::os {

struct ProcessLimit {
  int resource = 0;  // RLIMIT_…
  std::uint64_t soft = 0, hard = 0;
};

struct ProcessIdentity {
  std::uint32_t user = 0, group = 0;
  std::vector<std::uint32_t> groups;
  std::vector<ProcessLimit> limits;
  std::string folder;  // where it runs; empty: where we are
};

struct RunningProcess {
  ProcessIdentity identity;
  std::vector<std::string> environment;  // "NAME=VALUE", as it was when the process was started
  std::vector<std::string> notes;        // what could not be read
};

// kNoInput where there is no such process or its environment may not be read. Ends by `end` in any case.
base::Result<RunningProcess> read_running_process(std::int64_t pid, std::chrono::steady_clock::time_point end,
                                                  const std::string& proc = "/proc");

// The name that limits have in units and in `ulimit` ("MEMLOCK"), to RLIMIT_…; -1: none of this name.
int limit_of_name(std::string_view name);

}  // namespace unhang::os
