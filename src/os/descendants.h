// SPDX-License-Identifier: Apache-2.0
//
// All processes below one of ours, as /proc shows them at this moment: its children, theirs, and so on. With
// become_subreaper() those whose parent has ended (a double fork, setsid) come back to us and stay below us,
// so none is lost. A process is known by its id and its start: a signal never hits another one that got the
// same id later.
//
// Only /proc/PID/stat is read, which does not block even where the process is stuck in the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unhang::os {

struct Descendant {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::uint64_t started = 0;  // the kernel's ticks since the machine started
  char state = '?';           // R, S, D, T, Z …
  std::string name;           // comm: at most 15 bytes

  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

// Orphans below us become our children instead of those of the first process. For the life of this program.
bool become_subreaper();

// Ascending pid; without `root` itself. At most 100 000. Empty where /proc cannot be read.
std::vector<Descendant> descendants_of(std::int64_t root, const std::string& proc = "/proc");

// False: it is gone, or may not be signalled. `number` 0 only asks.
bool send_signal(const Descendant& process, int number);

}  // namespace unhang::os
