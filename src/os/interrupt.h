// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C (SIGINT), SIGTERM and the end of the terminal (SIGHUP) as something that a loop can wait for, so
// that a command that runs on and on can end in order: finish its line, close what it opened. A second one,
// when the first had no effect, ends the program the hard way.
#pragma once

namespace unhang::os {

// While it lives, the signals are caught; SIGHUP not where it is ignored (nohup). At most one at a time in a
// program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Readable (poll) as soon as a signal came, and from then on. -1: no descriptors left, happened() works.
  int fd() const;
  bool happened() const;
  // 128 + the signal, as shells have it; 0: none came.
  int exit_code() const;
};

}  // namespace unhang::os
