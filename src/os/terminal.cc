// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace unhang::os {
namespace {

constexpr int kUsualWidth = 80;
constexpr int kNarrowest = 20;
constexpr int kWidest = 1000;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// 0 when there is no usable number.
int columns_wanted() {
  const std::string_view text = environment("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  return error == std::errc{} && end == text.data() + text.size() && columns > 0 ? columns : 0;
}

}  // namespace

Terminal inspect_stdout(std::optional<bool> color_wanted) {
  return inspect_terminal(STDOUT_FILENO, color_wanted);
}

Terminal inspect_terminal(int fd, std::optional<bool> color_wanted) {
  Terminal out;
  out.is_terminal = ::isatty(fd) == 1;
  int width = columns_wanted();
  winsize size{};
  if (width == 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  out.width = std::clamp(width != 0 ? width : kUsualWidth, kNarrowest, kWidest);
  const bool usual = out.is_terminal && environment("TERM") != "dumb" && environment("NO_COLOR").empty();
  out.color = color_wanted.value_or(usual);
  return out;
}

}  // namespace unhang::os
