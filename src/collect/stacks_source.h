// SPDX-License-Identifier: Apache-2.0
//
// Where the workers stand, as a source of a capture: the state of each thread in /proc (twice, some seconds
// apart), Python stacks by py-spy, native ones by gdb, where those are installed.
//
// py-spy stops nobody. gdb does, for as long as it reads symbols and stacks (seconds for a large program), so
// it comes last, when RAS and the engines have been asked, and within a limit of its own; a process is never
// left stopped.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collect/capture.h"
#include "collect/capture_names.h"
#include "collect/capture_sampling.h"
#include "collect/helper_programs.h"
#include "collect/others_at_work.h"
#include "os/process_table.h"

namespace unhang::collect {

struct StackSearch {
  std::vector<os::Process> workers;      // of whom tools are asked
  std::vector<os::Process> descendants;  // only /proc is asked of them
  std::string proc = "/proc";            // tools are asked only where it is this machine's own
  std::string host;
  HelperPrograms programs;
  bool native = true;  // gdb may be used
  CaptureSampling sampling;
  unsigned side_by_side = 4;     // tools that run at a time
  std::size_t max_workers = 64;  // that tools are asked of
};

CaptureSource stacks_source(std::string id, StackSearch search, std::shared_ptr<OthersAtWork> others,
                            std::shared_ptr<CaptureNames> names);

// What py-spy printed without the command line of the process, which may hold secrets.
std::string without_command_line(std::string_view printed, bool is_json);

}  // namespace unhang::collect
