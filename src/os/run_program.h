// SPDX-License-Identifier: Apache-2.0
//
// Runs a helper program (gdb, py-spy, nvidia-smi, kubectl, ssh) to its end or to a deadline, with what it
// prints gathered up to a bound. No shell is in between. Its whole process group is killed when the time is
// over; a program that cannot be killed (state D) is left behind and waited for by nobody who needs the
// answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unhang::os {

struct ProgramRequest {
  std::vector<std::string> words;  // [0] is looked up in PATH where it has no slash
  // Instead of the caller's environment; empty: the caller's. LC_ALL=C is set in any case.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;      // where it runs; empty: where we are
  std::string input;       // its standard input; empty: /dev/null
  std::string input_path;  // a file instead
  std::chrono::steady_clock::time_point deadline;
  std::size_t max_output = std::size_t{16} << 20;  // of each of the two
  int wake_fd = -1;                                // readable: end it early, as at the deadline
  // Takes what it prints, piece by piece as it comes, instead of the reply; false: end it early.
  std::function<bool(std::string_view)> on_output;
};

struct ProgramReply {
  int exit_code = -1;  // -1: it did not end by itself
  int signal = 0;      // that ended it; 0: none
  bool timed_out = false;
  bool cut = false;  // there was more output than max_output
  std::string output, errors;

  bool well() const { return exit_code == 0 && !timed_out; }
};

// kNoInput where there is no such program, kIo where it could not be started.
base::Result<ProgramReply> run_program(const ProgramRequest& request);

// Its full path, as execvp would find it in `path` ($PATH); empty: not there.
std::string find_program(std::string_view name, std::string_view path);

}  // namespace unhang::os
