// SPDX-License-Identifier: Apache-2.0
//
// Programs of the machine that a capture asks (nvidia-smi, gdb, kubectl …): each within a limit of its own,
// and what it printed goes into the bundle without secrets. A program that is not installed, or does not
// answer, costs only itself.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/capture_names.h"
#include "collect/source_tally.h"
#include "os/run_program.h"

namespace unhang::collect {

struct HelperPrograms {
  std::string path;  // where they are looked for, as $PATH
  int wake_fd = -1;  // readable: they are ended
};

struct HelperRun {
  std::vector<std::string> words;  // [0]: its name
  std::string called = {};         // what people call it; empty: words[0]
  std::chrono::nanoseconds limit = std::chrono::seconds(10);
  std::size_t max_output = std::size_t{16} << 20;
};

// How long a program may take to die after its limit; a source leaves so much of its time to that.
inline constexpr std::chrono::milliseconds kTimeToDie{350};

// Runs it until its limit or the end of the capture. What went wrong is noted in `tally` ("gdb: not
// installed"), also an exit status other than 0; what it printed until then is given all the same.
os::ProgramReply run_helper(const HelperPrograms& programs, const HelperRun& run, SourceTally& tally);

// The same, and keeps what it printed, if anything, as FOLDER/NUMBER-TIME-NAME.
bool run_and_keep(const HelperPrograms& programs, const HelperRun& run, std::string_view folder,
                  std::string_view name, CaptureNames& names, SourceTally& tally);

bool is_installed(const HelperPrograms& programs, std::string_view name);

}  // namespace unhang::collect
