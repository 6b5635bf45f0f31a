// SPDX-License-Identifier: Apache-2.0
//
// The look at the processes of a command of ours that hangs or has died: a capture of them and of this
// machine, and of nobody else's processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/capture.h"
#include "os/child_job.h"

namespace unhang::cli {

struct LookRequest {
  std::string folder;  // new
  std::chrono::nanoseconds budget = std::chrono::seconds(3);
  std::vector<std::int64_t> pids;
  std::vector<std::string> environment;  // the command's: "NAME=VALUE"
  bool ask_ras = true;
  bool trigger_dumps = false;                               // by the pipes of PyTorch's recorder
  std::vector<std::pair<std::string, std::string>> labels;  // into the bundle
  std::optional<model::BundleCommand> command;              // what became of it, into the bundle, too
  bool once = false;                                        // nothing lives any more: nothing can move
  std::vector<std::string> without;                         // sources (collect/live_sources.h)
  std::vector<std::string> engines;                         // URLs
  bool native_stacks = true;                                // by gdb, which stops a process while it looks
  std::string proc = "/proc";
  int wake_fd = -1;  // readable: the look ends early
};

base::Result<collect::CaptureResult> take_look(const LookRequest& request);

// What a look tells of the command itself; `oom_kills`: the kernel's count when it was started.
model::BundleCommand command_facts(std::int64_t pid, std::chrono::steady_clock::time_point started,
                                   const std::optional<os::ChildEnd>& end,
                                   const std::optional<std::int64_t>& oom_kills);

// Whether somebody answers already where this environment's RAS would: it would speak of another job.
bool ras_is_taken(const std::vector<std::string>& environment);

// Its value in such an environment; nullptr: not set.
const char* value_in(const std::vector<std::string>& environment, std::string_view name);
void set_in(std::vector<std::string>& environment, std::string_view name, std::string_view value);

// "PREFIX-1", "PREFIX-2" …: the first below the current folder that is not there.
std::string free_folder(const std::string& prefix);
// Absolute, against the current folder.
base::Result<std::string> absolute_path(const std::string& path);

}  // namespace unhang::cli
