// SPDX-License-Identifier: Apache-2.0
//
// Passes what a child prints on to one of our own descriptors, unchanged and at once, on a thread of its own,
// and keeps its beginning and its end in memory for whoever wants to read them. The child gets a pipe, or,
// where ours is a terminal, a terminal: it buffers and colours as it would without us.
//
// Cheap: whoever prints many short lines is read a few hundred times a second, not once a line. Where nobody
// takes our output, the child waits as it would without us; where the reader goes away, the child notices.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "os/file_descriptor.h"

namespace unhang::os {

class OutputCopy {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kHead = std::size_t{4} << 20, kTail = std::size_t{1} << 20;

  // `to` stays the caller's and must stay open. kIo where there are no descriptors left.
  static base::Result<std::unique_ptr<OutputCopy>> make(int to);
  ~OutputCopy();  // stops; what was not read by then is lost
  OutputCopy(const OutputCopy&) = delete;
  OutputCopy& operator=(const OutputCopy&) = delete;

  int child_end() const { return x_child_end.get(); }
  // After the child was started: closes its end here, and begins.
  void start();
  // Of the terminal that the child has; nothing where it has a pipe.
  void take_window_size();

  std::uint64_t bytes() const { return x_bytes; }
  std::optional<Time> last_output() const;  // nullopt: it never printed anything
  bool finished() const { return x_finished; }
  // Waits for the end of the output: true when all of it was passed on. With `at_most`, gives up when for
  // that long nothing moved, and after twice that time in any case; also when `wake_fd` becomes readable.
  bool drain(std::optional<std::chrono::milliseconds> at_most, int wake_fd);

  struct Kept {
    std::string head, tail;      // where nothing is left out, head has all and tail is empty
    std::uint64_t left_out = 0;  // bytes between them
  };
  Kept kept() const;

 private:
  explicit OutputCopy(int to) : x_to(to) {}
  void run();
  bool pass_on(const char* data, std::size_t size);
  void keep(const char* data, std::size_t size);
  bool wait_for(int fd, short events, int timeout_ms) const;

  int x_to;
  int x_write_to = -1;      // x_to, or the same pipe opened again without blocking
  std::size_t x_piece = 0;  // largest write that cannot block after poll
  FileDescriptor x_reopened, x_child_end, x_read_end, x_stop_read, x_stop_write;
  bool x_is_terminal = false;
  std::thread x_thread;
  std::atomic<std::uint64_t> x_bytes{0};
  // Ticks of the steady clock: when something came last, when something was taken from us last. 0: never.
  std::atomic<std::int64_t> x_last{0}, x_moved{0};
  std::atomic<bool> x_finished{false}, x_stopping{false};
  mutable std::mutex x_mutex;  // guards what is kept
  std::string x_head, x_tail;  // x_tail: a ring once it is full
  std::size_t x_tail_at = 0;
  std::uint64_t x_kept_total = 0;
};

}  // namespace unhang::os
