// SPDX-License-Identifier: Apache-2.0
//
// What a path leads to and the file system below it: kind, owner, rights, free space. Asked in a child
// process, because stat() on a network file system whose server is gone never returns; the caller never waits
// longer than its deadlines. Nothing is opened for reading: a FIFO or a device does not notice.
//
// With `root`, a path is resolved below that folder and can never lead out of it (/proc/PID/root).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "os/child_reader.h"

namespace unhang::os {

struct PathQuestion {
  std::string root = {};  // empty: none; else an absolute folder
  std::string path = {};
  bool follow_last = true;  // follow it when the path itself is a symbolic link
};

struct PathAnswer {
  ReadEnd end = ReadEnd::kNotTried;  // kWhole: all below is known
  int error = 0;                     // errno, where `end` is kFailed
  std::uint32_t mode = 0;            // st_mode
  std::int64_t owner = -1, group = -1;
  std::int64_t modified_ns = 0;
  // Of its file system. `type` is statfs(2)'s f_type.
  std::uint64_t type = 0;
  bool read_only = false;
  std::uint64_t bytes_total = 0, bytes_free = 0;    // free: for those who are not root
  std::uint64_t inodes_total = 0, inodes_free = 0;  // total 0: it does not count them
};

// One answer a question, in their order. May be called from several threads at once.
std::vector<PathAnswer> ask_paths(std::span<const PathQuestion> questions, const ReadDeadlines& deadlines);

}  // namespace unhang::os
