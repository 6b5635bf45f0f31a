// SPDX-License-Identifier: Apache-2.0
//
// The start of a helper program for run_program.h: what happens between fork and exec. The child is forked
// from a program with several threads, so it may call only what is safe in a signal handler; all that it
// needs is prepared before.
#pragma once

#include <string>
#include <vector>

#include "os/file_descriptor.h"
#include "os/run_program.h"

namespace unhang::os {

struct StartedProgram {
  int pid = -1;                   // leader of a session and process group of its own, without a terminal
  FileDescriptor output, errors;  // non-blocking
  FileDescriptor exec_error;      // gives an errno where the program could not be executed; else it just ends
};

// `file` is executed with request.words. Fails (kIo) where no pipe or process could be made.
base::Result<StartedProgram> start_program(const std::string& file, const ProgramRequest& request);

// "NAME=value" for each variable that the program is to have, LC_ALL=C among them.
std::vector<std::string> program_environment(const ProgramRequest& request);

}  // namespace unhang::os
