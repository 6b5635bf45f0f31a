// SPDX-License-Identifier: Apache-2.0
//
// The processes of this machine as /proc shows them: who runs, since when, as whom, with which libraries, and
// a few variables of its environment. Everything is read through child_reader.h, because /proc/PID/cmdline,
// environ and maps of a process that is stuck in the kernel can block for ever. Processes that end meanwhile
// and files that may not be read are normal: what is missing is said, nothing fails.
//
// A command line and an environment hold secrets (keys, tokens). Of the environment only the variables that
// are asked for are kept; the command line is for choosing processes and should not be written anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/child_reader.h"

namespace unhang::os {

struct Process {
  std::int64_t pid = 0;
  std::optional<std::int64_t> parent;     // the process that started it, or took it over
  std::string name;                       // comm: at most 15 bytes
  bool has_ended = false;                 // only where the dead were asked for
  std::vector<std::string> command_line;  // empty: a kernel thread, or not readable
  std::optional<std::int64_t> user;       // real user id
  // Since when it runs, in nanoseconds since 1970; as exact as the kernel's tick (10 ms).
  std::optional<std::int64_t> started_ns;
  // Its number in each pid namespace, from this one inward: {88121, 412} is 412 in its container.
  std::vector<std::int64_t> namespace_pids;
  std::vector<std::pair<std::string, std::string>> environment;  // those asked for that it has, ascending
  bool environment_known = false;
  std::vector<std::string> libraries;  // mapped files whose name was asked for, ascending
  bool libraries_known = false;
  std::string root;                       // "/proc/88121/root": its file system as it sees it
  std::string mount_namespace;            // "mnt:[4026531841]"; empty: not known
  std::vector<std::string> not_readable;  // "environ: Permission denied"

  const std::string* variable(std::string_view name) const;  // nullptr: not there, or not known
};

struct ProcessTableOptions {
  std::string proc = "/proc";
  // Names, or beginnings of names that end in '*' ("NCCL_*").
  std::vector<std::string> variables = {};
  // A mapped file is kept when its name begins so ("libnccl").
  std::vector<std::string> library_names = {};
  bool dead = false;  // also those that have ended and that their parents have not taken note of
  std::size_t max_processes = 100'000;
  ReadDeadlines deadlines = {};
};

struct ProcessTable {
  std::vector<Process> processes;  // ascending pid; without kernel threads
  std::vector<std::string> notes;  // what was not seen: too many processes, no time
};

// Fails only when `proc` itself cannot be listed.
base::Result<ProcessTable> read_process_table(const ProcessTableOptions& options);

bool matches_variable(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace unhang::os
