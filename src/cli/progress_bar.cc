// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "os/terminal.h"

namespace unhang::cli {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr std::chrono::milliseconds kQuietAtFirst{500};
constexpr int kLongestBar = 40, kShortestBar = 8;

struct Unit {
  double bytes;
  const char* name;
};

Unit unit_of(double bytes) {
  constexpr std::array<Unit, 5> kUnits{Unit{1, "B"}, Unit{1024, "KiB"}, Unit{1 << 20, "MiB"},
                                       Unit{1 << 30, "GiB"}, Unit{1024.0 * (1 << 30), "TiB"}};
  const auto* unit = kUnits.data();
  while (unit + 1 != kUnits.data() + kUnits.size() && bytes >= (unit + 1)->bytes) ++unit;
  return *unit;
}

std::string amount(double bytes, const Unit& unit) {
  return unit.bytes == 1 ? fmt::format("{:.0f}", bytes) : fmt::format("{:.1f}", bytes / unit.bytes);
}

std::string amount(double bytes) {
  const Unit unit = unit_of(bytes);
  return amount(bytes, unit) + " " + unit.name;
}

}  // namespace

std::string progress_line(std::uint64_t bytes_read, std::uint64_t known, double seconds, int width) {
  const auto done = static_cast<double>(bytes_read);
  // A file may have grown since it was looked at.
  const auto all = static_cast<double>(std::max(known, bytes_read));
  std::string line;
  if (known == 0) {
    line = amount(done);
  } else {
    const Unit unit = unit_of(all);
    line = fmt::format("{} of {} {}  {:.0f} %", amount(done, unit), amount(all, unit), unit.name,
                       std::floor(100 * done / all));
  }
  if (seconds > 0) line += "  " + amount(done / seconds) + "/s";
  const int room = std::min(width - static_cast<int>(line.size()) - 4, kLongestBar);
  if (known != 0 && room >= kShortestBar) {
    const int filled = static_cast<int>(room * done / all);
    line += "  [" + std::string(static_cast<std::size_t>(filled), '#') +
            std::string(static_cast<std::size_t>(room - filled), '-') + "]";
  }
  if (static_cast<int>(line.size()) > width) line.resize(static_cast<std::size_t>(std::max(width, 0)));
  return line;
}

ProgressBar::ProgressBar(Output* err, std::uint64_t known_bytes) : x_err(err), x_known(known_bytes) {
  if (x_err == nullptr || !x_err->is_terminal()) return;
  x_width = os::inspect_terminal(STDERR_FILENO, {}).width - 1;
  x_thread = std::thread([this] { draw_until_end(); });
}

ProgressBar::~ProgressBar() {
  if (!x_thread.joinable()) return;
  {
    const std::lock_guard lock(x_mutex);
    x_end = true;
  }
  x_ended.notify_one();
  x_thread.join();
}

void ProgressBar::draw_until_end() {
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock lock(x_mutex);
  bool drawn = false;
  auto wait = kQuietAtFirst;
  while (!x_ended.wait_for(lock, wait, [this] { return x_end; })) {
    wait = kBetween;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    // Back to the first column, and what was longer before is taken away.
    x_err->write("\r" + progress_line(x_bytes_read, x_known, passed.count(), x_width) + "\x1b[K");
    drawn = true;
  }
  if (drawn) x_err->write("\r\x1b[K");
}

}  // namespace unhang::cli
