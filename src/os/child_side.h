// SPDX-License-Identifier: Apache-2.0
//
// What the child of child_reader.h does, and how it tells its parent. It is forked from a program with
// several threads, so it may call only what is safe in a signal handler: no allocation, no stdio.
#pragma once

#include <cstdint>
#include <span>

#include "os/child_reader.h"

namespace unhang::os {

// What goes over the pipe: a frame, followed by `length` bytes of a piece.
struct ChildFrame {
  std::uint32_t length = 0;
  std::uint8_t is_reply = 0;  // 0: a piece
  std::uint8_t cut = 0;
  std::uint8_t is_regular = 0;
  std::uint8_t unused = 0;
  std::int32_t error = 0;
  std::uint32_t padding = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::int64_t owner = -1;
};

inline constexpr std::size_t kChildPieceBytes = 64 << 10;

// Answers the requests in order on `pipe`; never returns.
[[noreturn]] void run_child(std::span<const ReadRequest> requests, int pipe);

// Where the kernel has no openat2 (before 5.6, or a seccomp filter): one part after the other, and no link is
// followed at all. `path` is taken as below `folder` even when it begins with a slash. Allocates nothing.
int open_part_by_part(int folder, const char* path, int flags);

}  // namespace unhang::os
