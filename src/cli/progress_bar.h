// SPDX-License-Identifier: Apache-2.0
//
// How far a long reading has come, on a terminal only: one line that is drawn over and over and is gone at
// the end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/streams.h"

namespace unhang::cli {

// "1.2 of 2.0 GiB  60 %  410 MiB/s  [########------]", at most `width` columns. `known`: 0 when it is not
// known how much there is, as with standard input.
std::string progress_line(std::uint64_t bytes_read, std::uint64_t known, double seconds, int width);

// Draws on `err` from a thread of its own, at most ten times a second and not in the first half second. Where
// `err` is no terminal it does nothing at all. While it lives, nobody else writes to `err`.
class ProgressBar {
 public:
  ProgressBar(Output* err, std::uint64_t known_bytes);
  ~ProgressBar();  // takes the line away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // To be counted up by whoever reads, from any thread.
  std::atomic<std::uint64_t>& bytes_read() { return x_bytes_read; }

 private:
  void draw_until_end();

  Output* x_err;
  std::uint64_t x_known;
  int x_width = 80;
  std::atomic<std::uint64_t> x_bytes_read{0};
  std::mutex x_mutex;
  std::condition_variable x_ended;
  bool x_end = false;
  std::thread x_thread;
};

}  // namespace unhang::cli
