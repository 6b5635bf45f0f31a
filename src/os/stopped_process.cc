// SPDX-License-Identifier: Apache-2.0
#include "os/stopped_process.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <sys/types.h>

namespace unhang::os {

char state_of_process(std::int64_t pid, const std::string& proc) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t close = line.rfind(')');
  return close == std::string::npos || close + 2 >= line.size() ? '\0' : line[close + 2];
}

bool continue_stopped(std::int64_t pid, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kStep{20};
  bool had_to = false;
  for (auto waited = std::chrono::milliseconds(0); waited <= patience; waited += kStep) {
    if (waited.count() > 0) std::this_thread::sleep_for(kStep);
    const char state = state_of_process(pid);
    if (state == '\0') break;
    if (state == 'T') had_to = ::kill(static_cast<pid_t>(pid), SIGCONT) == 0;
  }
  return had_to;
}

}  // namespace unhang::os
