// SPDX-License-Identifier: Apache-2.0
#include "base/span_text.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace unhang::base {
namespace {

struct Unit {
  double size;
  const char* name;
};

// With one decimal below ten, where there is one.
std::string short_number(double value) {
  const auto tenths = static_cast<std::int64_t>(std::llround(std::min(value, 1e15) * 10));
  if (tenths >= 100) return std::to_string((tenths + 5) / 10);
  return tenths % 10 == 0 ? std::to_string(tenths / 10)
                          : std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
}

// Units ascend.
std::string in_units(double value, std::span<const Unit> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= units[unit + 1].size * 0.9995) ++unit;
  return short_number(value / units[unit].size) + ' ' + units[unit].name;
}

}  // namespace

std::string span_text(std::int64_t nanoseconds) {
  static constexpr Unit kUnits[] = {{1e3, "us"},   {1e6, "ms"},   {1e9, "s"},
                                    {60e9, "min"}, {3600e9, "h"}, {86400e9, "d"}};
  return in_units(nanoseconds > 0 ? static_cast<double>(nanoseconds) : 0, kUnits);
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr Unit kUnits[] = {
      {1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776.0, "TiB"}};
  return in_units(bytes > 0 ? static_cast<double>(bytes) : 0, kUnits);
}

std::string ratio_text(double ratio) {
  return short_number(std::isfinite(ratio) && ratio > 0 ? ratio : 0);
}

std::string percent_text(double share) {
  return ratio_text(share * 100) + " %";
}

}  // namespace unhang::base
