// SPDX-License-Identifier: Apache-2.0
//
// How a capture is started on another machine: the words of the command here, and the small script that runs
// there. The script uses the unhang of the same release where it is installed; else it takes this program
// from its standard input, checks its hash, runs it and removes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collect/fan_out_members.h"

namespace unhang::collect {

// The program that is copied where there is none.
struct OwnProgram {
  std::string path;                   // of its file
  std::string version, architecture;  // as `unhang version` and `uname -m` say
  std::string sha256;
  std::uint64_t bytes = 0;
};

// Of the running program. kIo where it cannot be read.
base::Result<OwnProgram> own_program(std::string version);

// The command line for kubectl, ssh or srun. `flags` are those of `unhang capture`, without its budget and
// place; `budget_ms` is what the member has, from now on.
std::vector<std::string> member_command(const Member& member, const OwnProgram& program,
                                        std::int64_t budget_ms, const std::vector<std::string>& flags);

// 'it'\''s': one word for any shell.
std::string shell_quoted(std::string_view word);

}  // namespace unhang::collect
