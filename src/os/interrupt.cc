// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/check.h"

namespace unhang::os {
namespace {

// What the handler touches: only lock-free atomics and a pipe.
std::atomic<int> g_signal{0};
std::atomic<int> g_write_end{-1};
static_assert(std::atomic<int>::is_always_lock_free);
int g_read_end = -1;
bool g_in_use = false;
struct sigaction g_old_interrupt, g_old_terminate, g_old_hang_up;

void on_signal(int number) {
  const int saved = errno;
  g_signal.store(number);
  const int fd = g_write_end.load();
  if (fd >= 0) (void)!::write(fd, "", 1);
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  CHECK(!g_in_use);
  g_in_use = true;
  g_signal.store(0);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    g_read_end = ends[0];
    g_write_end.store(ends[1]);
  }
  struct sigaction action = {};
  action.sa_handler = &on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one does what it always did
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &g_old_interrupt);
  ::sigaction(SIGTERM, &action, &g_old_terminate);
  // The terminal went away. Under nohup it is ignored, and stays so.
  ::sigaction(SIGHUP, nullptr, &g_old_hang_up);
  if (g_old_hang_up.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &g_old_interrupt, nullptr);
  ::sigaction(SIGTERM, &g_old_terminate, nullptr);
  ::sigaction(SIGHUP, &g_old_hang_up, nullptr);
  const int write_end = g_write_end.exchange(-1);
  if (write_end >= 0) ::close(write_end);
  if (g_read_end >= 0) ::close(g_read_end);
  g_read_end = -1;
  g_in_use = false;
}

int Interrupt::fd() const {
  return g_read_end;
}

bool Interrupt::happened() const {
  return g_signal.load() != 0;
}

int Interrupt::exit_code() const {
  const int number = g_signal.load();
  return number == 0 ? 0 : 128 + number;
}

}  // namespace unhang::os
