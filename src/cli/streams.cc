// SPDX-License-Identifier: Apache-2.0
#include "cli/streams.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace unhang::cli {
namespace {

constexpr int kDefaultWidth = 80;
constexpr int kNarrowest = 40;
constexpr int kWidest = 1000;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void Output::write(std::string_view text) {
  if (x_text != nullptr) {
    x_text->append(text);
    return;
  }
  while (!text.empty() && !x_closed) {
    const ssize_t written = ::write(x_descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // A pipe that somebody else made non-blocking: wait for its reader.
      pollfd ready{x_descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      x_closed = true;
      if (errno != EPIPE) x_failure = errno;
    }
  }
}

bool Output::is_terminal() const {
  return x_text == nullptr && ::isatty(x_descriptor) == 1;
}

Surroundings read_surroundings(const Output& out) {
  Surroundings found;
  found.no_color = !variable("NO_COLOR").empty();
  const std::string_view term = variable("TERM");
  found.dumb = term.empty() || term == "dumb";
  const std::string_view columns = variable("COLUMNS");
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), found.columns);
  if (error != std::errc() || end != columns.data() + columns.size()) found.columns = 0;
  if (found.columns <= 0) found.columns = out.is_terminal() ? terminal_columns() : 0;
  return found;
}

bool wants_color(std::string_view when, bool is_terminal, const Surroundings& surroundings) {
  if (when == "always") return true;
  if (when == "never") return false;
  return is_terminal && !surroundings.no_color && !surroundings.dumb;
}

int usable_width(const Surroundings& surroundings) {
  if (surroundings.columns <= 0) return kDefaultWidth;
  return std::clamp(surroundings.columns, kNarrowest, kWidest);
}

}  // namespace unhang::cli
