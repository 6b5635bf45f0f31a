// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace unhang::report {
namespace {

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> kAscii{"_", ".", ":", "-", "=", "+", "*", "#"};

std::vector<double> squeezed(std::span<const double> values, int width) {
  const std::size_t most = static_cast<std::size_t>(std::max(width, 1));
  const std::size_t parts = std::min(values.size(), most);
  std::vector<double> out;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(part * values.size() / parts);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((part + 1) * values.size() / parts);
    std::vector<double> shared(begin, end);
    std::erase_if(shared, [](double value) { return !std::isfinite(value); });
    if (shared.empty()) {
      out.push_back(std::nan(""));
      continue;
    }
    const auto middle = shared.begin() + static_cast<std::ptrdiff_t>((shared.size() - 1) / 2);
    std::nth_element(shared.begin(), middle, shared.end());
    out.push_back(*middle);
  }
  return out;
}

}  // namespace

std::string sparkline(std::span<const double> values, int width, bool unicode, bool from_zero) {
  const auto& signs = unicode ? kBlocks : kAscii;
  const std::vector<double> shown = squeezed(values, width);
  double low = from_zero ? 0 : std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  for (const double value : shown) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string out;
  for (const double value : shown) {
    if (!std::isfinite(value)) {
      out += ' ';
      continue;
    }
    const double share = high > low ? (value - low) / (high - low) : 0;
    out += signs[static_cast<std::size_t>(std::clamp(std::lround(share * 7), 0L, 7L))];
  }
  return out;
}

std::string bar(double share, int width, bool unicode) {
  if (!(share > 0) || width <= 0) return "";
  const long length = std::clamp(std::lround(std::min(share, 1.0) * width), 1L, static_cast<long>(width));
  std::string out;
  for (long i = 0; i < length; ++i) out += unicode ? kBlocks.back() : kAscii.back();
  return out;
}

}  // namespace unhang::report
