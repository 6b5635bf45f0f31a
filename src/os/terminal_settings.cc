// SPDX-License-Identifier: Apache-2.0
#include "os/terminal_settings.h"

#include <csignal>
#include <string_view>

#include <termios.h>
#include <unistd.h>

namespace unhang::os {
namespace {

// Behind a cursor that was hidden and a second screen (xterm's private modes 25 and 1049).
constexpr std::string_view kOrdinaryScreen = "\x1b[?1049l\x1b[?25h";

bool same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag;
}

}  // namespace

struct TerminalSettings::Saved {
  termios settings{};
};

TerminalSettings::TerminalSettings() {
  auto saved = std::make_unique<Saved>();
  if (::tcgetattr(STDERR_FILENO, &saved->settings) == 0) x_saved = std::move(saved);
}

TerminalSettings::~TerminalSettings() = default;

void TerminalSettings::restore() const {
  termios now{};
  if (!x_saved || ::tcgetattr(STDERR_FILENO, &now) != 0 || same(now, x_saved->settings)) return;
  // From the background it would stop us.
  const auto old = std::signal(SIGTTOU, SIG_IGN);
  ::tcsetattr(STDERR_FILENO, TCSANOW, &x_saved->settings);
  std::signal(SIGTTOU, old);
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, kOrdinaryScreen.data(), kOrdinaryScreen.size());
}

}  // namespace unhang::os
