// SPDX-License-Identifier: Apache-2.0
//
// Reads files and folders that may block for ever (/proc of a process stuck in the kernel, a network file
// system whose server is gone) in a child process, which is killed and abandoned when it stands still. The
// caller never blocks longer than its deadlines.
//
// With `root`, a path is resolved below that folder and can never lead out of it, whatever links a stranger
// has put there: /proc/PID/root is another's file system. Special files are opened and not read: reading
// from a pipe or a device has side effects.
//
// No zombie is left: an abandoned child that dies later is waited for by a thread of its own. Linux only; may
// be called from several threads at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::os {

enum class ReadKind : std::uint8_t {
  kFile,    // its bytes
  kFolder,  // the names in it, each followed by a NUL; in no order
  kLink,    // where a symbolic link points
};

struct ReadRequest {
  ReadKind kind = ReadKind::kFile;
  std::string root = {};  // empty: none; else an absolute folder
  std::string path = {};
  bool follow_last = true;  // follow it when the path itself is a symbolic link
  std::uint64_t max_bytes = 1 << 20;
  std::uint64_t last_bytes = 0;  // begin so far in front of the end of the file; 0: at its beginning
  std::size_t group = 0;         // when one of a group gets stuck, the rest of its group is not tried
};

enum class ReadEnd : std::uint8_t {
  kWhole,
  kCut,       // there was more than max_bytes
  kFailed,    // `error` says why
  kStuck,     // it stood still; the child was abandoned
  kNotTried,  // its group got stuck before, or the time was over
};

struct ReadReply {
  ReadEnd end = ReadEnd::kNotTried;
  int error = 0;            // errno
  bool is_regular = false;  // a plain file
  std::int64_t size = 0;    // as the file system says after reading; 0 in /proc
  std::int64_t modified_ns = 0;
  std::uint64_t device = 0, inode = 0;
  std::int64_t owner = -1;  // user id
  std::string bytes = {};   // empty where the pieces were taken by the caller

  bool usable() const { return end == ReadEnd::kWhole || end == ReadEnd::kCut; }
};

struct ReadDeadlines {
  std::chrono::milliseconds still{1000};  // how long a child may give no byte before it counts as stuck
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
};

// One call each, in the order of the requests. `on_piece` gets bytes as they come.
using OnPiece = std::function<void(std::size_t request, std::string_view piece)>;
using OnReply = std::function<void(std::size_t request, ReadReply reply)>;

void read_in_child(std::span<const ReadRequest> requests, const ReadDeadlines& deadlines,
                   const OnPiece& on_piece, const OnReply& on_reply);

// All of it gathered; as many replies as requests.
std::vector<ReadReply> read_in_child(std::span<const ReadRequest> requests, const ReadDeadlines& deadlines);
ReadReply read_in_child(const ReadRequest& request, const ReadDeadlines& deadlines);

// "permission denied", "stood still for 1 s" …: why there is nothing, for a person.
std::string reason_text(const ReadReply& reply);

}  // namespace unhang::os
