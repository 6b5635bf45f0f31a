// SPDX-License-Identifier: Apache-2.0
//
// py-spy and gdb, asked of one process each. Part of stacks_source.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collect/helper_programs.h"

namespace unhang::collect {

struct ToolAnswer {
  std::string text;    // without secrets; empty: none
  std::string ending;  // of its file: "-py-spy.json"
  bool cut = false;
  std::string trouble;  // why it is missing or not whole
  bool not_allowed = false;
};

using ToolDeadline = std::chrono::steady_clock::time_point;

ToolAnswer ask_py_spy(const HelperPrograms& programs, std::int64_t pid, ToolDeadline deadline);

// The process is stopped meanwhile. When gdb does not let go of it in time, gdb is killed and the process
// continued, unless it stood stopped before.
ToolAnswer ask_gdb(const HelperPrograms& programs, std::int64_t pid, ToolDeadline deadline);

// What gdb is called with. Nothing of the process's files is executed, no arguments of functions are printed,
// and nothing is downloaded.
// `python`: with Python's frames too, by the scripts that the machine's packages installed for gdb.
std::vector<std::string> gdb_words(std::int64_t pid, bool python);

}  // namespace unhang::collect
