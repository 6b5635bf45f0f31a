// SPDX-License-Identifier: Apache-2.0
//
// Runs independent pieces of work on several threads with the results in input order, so that the output of
// the program does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <type_traits>
#include <vector>

namespace unhang::base {

// 0 means "as many as the machine has"; never more than `items`, never less than 1.
inline unsigned thread_count(unsigned wanted, std::size_t items) {
  unsigned n = wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::clamp<std::size_t>(items, 1, n));
}

// Calls work(i), or work(i, worker) with worker in [0, thread_count(threads, items)), once for each i in [0,
// items). Each call must touch only its own slot of any shared output; what belongs to a worker is used by
// one thread at a time. Work is handed out in ascending order. An exception (only out-of-memory is expected)
// is rethrown here after all threads have stopped.
template <class Work>
void parallel_for(std::size_t items, unsigned threads, Work&& work) {
  const auto call = [&work](std::size_t i, unsigned worker) {
    if constexpr (std::is_invocable_v<Work&, std::size_t, unsigned>) {
      work(i, worker);
    } else {
      work(i);
    }
  };
  const unsigned n = thread_count(threads, items);
  if (n <= 1) {
    for (std::size_t i = 0; i < items; ++i) call(i, 0);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(n);
  {
    std::vector<std::jthread> pool;
    pool.reserve(n);
    for (unsigned t = 0; t < n; ++t) {
      pool.emplace_back([&, t] {
        try {
          for (std::size_t i = next.fetch_add(1); i < items; i = next.fetch_add(1)) call(i, t);
        } catch (...) {
          failures[t] = std::current_exception();
          next.store(items);
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace unhang::base
