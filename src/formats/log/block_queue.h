// SPDX-License-Identifier: Apache-2.0
//
// Has blocks of lines prepared by other threads and hands them out in their order, so that the result does
// not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "formats/log/prepared_block.h"

namespace unhang::formats::log {

class BlockQueue {
 public:
  using OnBlock = std::function<void(const PreparedBlock& block)>;

  // `threads`: all that work, the caller's own among them; with one nothing is started. `on_block` is called
  // by the caller's thread alone, inside add() and finish(). `filter` must outlive this.
  BlockQueue(const KeywordFilter& filter, unsigned threads, OnBlock on_block);
  ~BlockQueue();
  BlockQueue(const BlockQueue&) = delete;
  BlockQueue& operator=(const BlockQueue&) = delete;

  // Swaps `block` for the memory of an older one. Holds a few blocks for each thread; waits for the oldest
  // where all are full, and helps meanwhile.
  void add(std::string& block);
  // Hands out those that are left.
  void finish();

 private:
  enum class State { kEmpty, kFilled, kAtWork, kReady };
  struct Slot {
    State state = State::kEmpty;
    PreparedBlock block;
    std::exception_ptr failure;
  };

  void work();
  // The oldest block that nobody took yet; nullptr: none. Marks it as taken.
  Slot* take_filled();
  void prepare_slot(Slot& slot);
  void hand_out_oldest();

  const KeywordFilter& x_filter;
  OnBlock x_on_block;
  std::vector<Slot> x_slots;  // a ring
  std::size_t x_oldest = 0, x_used = 0;
  bool x_stop = false;
  std::mutex x_mutex;  // guards states, failures and the ring
  std::condition_variable x_filled, x_ready;
  std::vector<std::jthread> x_threads;
};

}  // namespace unhang::formats::log
