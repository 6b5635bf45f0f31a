// SPDX-License-Identifier: Apache-2.0
#include "os/signal_relay.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/check.h"

namespace unhang::os {
namespace {

constexpr int kLastSignal = 64;  // SIGRTMAX; a bit for each
// What the handler touches: only lock-free atomics and a pipe.
std::atomic<std::uint64_t> g_came{0};
std::atomic<int> g_write_end{-1};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
int g_read_end = -1;
bool g_in_use = false;

void on_signal(int number) {
  const int saved = errno;
  g_came.fetch_or(std::uint64_t{1} << (number - 1));
  const int fd = g_write_end.load();
  if (fd >= 0) (void)!::write(fd, "", 1);
  errno = saved;
}

}  // namespace

struct SignalRelay::Old {
  std::vector<std::pair<int, struct sigaction>> actions;
};

std::vector<int> signals_to_pass_on() {
  std::vector<int> all{SIGHUP,  SIGINT, SIGQUIT, SIGUSR1,   SIGUSR2, SIGALRM,  SIGTERM, SIGSTKFLT, SIGCONT,
                       SIGTSTP, SIGURG, SIGXCPU, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO,   SIGPWR};
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) all.push_back(number);
  return all;
}

SignalRelay::SignalRelay(const std::vector<int>& signals) : x_old(std::make_unique<Old>()) {
  CHECK(!g_in_use);
  g_in_use = true;
  g_came.store(0);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    g_read_end = ends[0];
    g_write_end.store(ends[1]);
  }
  for (const int number : signals) {
    CHECK(number > 0 && number <= kLastSignal);
    struct sigaction old = {}, action = {};
    ::sigaction(number, nullptr, &old);
    if (old.sa_handler == SIG_IGN && number != SIGCHLD) continue;
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
    sigemptyset(&action.sa_mask);
    if (::sigaction(number, &action, nullptr) == 0) x_old->actions.emplace_back(number, old);
  }
}

SignalRelay::~SignalRelay() {
  for (const auto& [number, action] : x_old->actions) ::sigaction(number, &action, nullptr);
  const int write_end = g_write_end.exchange(-1);
  if (write_end >= 0) ::close(write_end);
  if (g_read_end >= 0) ::close(g_read_end);
  g_read_end = -1;
  g_in_use = false;
}

int SignalRelay::fd() const {
  return g_read_end;
}

std::vector<int> SignalRelay::take() {
  char bytes[64];
  while (g_read_end >= 0 && ::read(g_read_end, bytes, sizeof bytes) > 0) {
  }
  const std::uint64_t came = g_came.exchange(0);
  std::vector<int> out;
  for (int number = 1; number <= kLastSignal; ++number) {
    if ((came >> (number - 1) & 1) != 0) out.push_back(number);
  }
  return out;
}

}  // namespace unhang::os
