// SPDX-License-Identifier: Apache-2.0
//
// Signals as something that a loop can wait for and pass on, for programs that run another one. Unlike
// interrupt.h it tells of every signal, again and again, and ends nothing by itself.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

namespace unhang::os {

// All that can be caught and that somebody may mean for the program behind us: not what a fault of our own
// raises (SIGSEGV …), nor what a terminal does to those in the background. SIGCHLD is not among them.
std::vector<int> signals_to_pass_on();

// While it lives, the signals are caught; one that was ignored before (nohup, a job in the background) stays
// ignored. SIGCHLD only wakes. At most one at a time in a program.
class SignalRelay {
 public:
  explicit SignalRelay(const std::vector<int>& signals);
  SignalRelay(std::initializer_list<int> signals) : SignalRelay(std::vector<int>(signals)) {}
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // Readable (poll) while there is something to take. -1: no descriptors left, take() works.
  int fd() const;
  // What came since the last call, each once, ascending.
  std::vector<int> take();

 private:
  struct Old;
  std::unique_ptr<Old> x_old;
};

}  // namespace unhang::os
