// SPDX-License-Identifier: Apache-2.0
#include "formats/log/block_queue.h"

#include <utility>

namespace unhang::formats::log {
namespace {

constexpr std::size_t kBlocksOfOneThread = 3;

}  // namespace

BlockQueue::BlockQueue(const KeywordFilter& filter, unsigned threads, OnBlock on_block)
    : x_filter(filter),
      x_on_block(std::move(on_block)),
      x_slots(threads <= 1 ? 1 : kBlocksOfOneThread * threads) {
  for (unsigned i = 1; i < threads; ++i) x_threads.emplace_back([this] { work(); });
}

BlockQueue::~BlockQueue() {
  {
    const std::scoped_lock lock(x_mutex);
    x_stop = true;
  }
  x_filled.notify_all();
}

BlockQueue::Slot* BlockQueue::take_filled() {
  for (std::size_t i = 0; i < x_used; ++i) {
    Slot& slot = x_slots[(x_oldest + i) % x_slots.size()];
    if (slot.state != State::kFilled) continue;
    slot.state = State::kAtWork;
    return &slot;
  }
  return nullptr;
}

void BlockQueue::prepare_slot(Slot& slot) {
  std::exception_ptr failure;
  try {
    prepare(slot.block, x_filter);
  } catch (...) {  // only out-of-memory is expected
    failure = std::current_exception();
  }
  {
    const std::scoped_lock lock(x_mutex);
    slot.failure = failure;
    slot.state = State::kReady;
  }
  x_ready.notify_one();
}

void BlockQueue::work() {
  for (;;) {
    Slot* slot = nullptr;
    {
      std::unique_lock lock(x_mutex);
      x_filled.wait(lock, [&] { return x_stop || (slot = take_filled()) != nullptr; });
      if (x_stop) return;
    }
    prepare_slot(*slot);
  }
}

void BlockQueue::hand_out_oldest() {
  Slot& oldest = x_slots[x_oldest];
  for (;;) {
    Slot* mine = nullptr;
    {
      std::unique_lock lock(x_mutex);
      if (oldest.state == State::kReady) break;
      mine = take_filled();
      if (mine == nullptr) {
        x_ready.wait(lock, [&] { return oldest.state == State::kReady; });
        break;
      }
    }
    prepare_slot(*mine);
  }
  if (oldest.failure) std::rethrow_exception(std::exchange(oldest.failure, nullptr));
  x_on_block(oldest.block);
  const std::scoped_lock lock(x_mutex);
  oldest.state = State::kEmpty;
  x_oldest = (x_oldest + 1) % x_slots.size();
  --x_used;
}

void BlockQueue::add(std::string& block) {
  bool ready = true;
  // What is ready is handed out before more is taken in: it is still in the caches.
  while (ready || x_used == x_slots.size()) {
    {
      const std::scoped_lock lock(x_mutex);
      ready = x_used != 0 && x_slots[x_oldest].state == State::kReady;
      if (!ready && x_used != x_slots.size()) break;
    }
    hand_out_oldest();
  }
  {
    const std::scoped_lock lock(x_mutex);
    Slot& slot = x_slots[(x_oldest + x_used) % x_slots.size()];
    slot.block.text.swap(block);
    slot.state = State::kFilled;
    ++x_used;
  }
  x_filled.notify_one();
}

void BlockQueue::finish() {
  while (x_used != 0) hand_out_oldest();
}

}  // namespace unhang::formats::log
