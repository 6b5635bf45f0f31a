// SPDX-License-Identifier: Apache-2.0
#include "collect/capture_names.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "collect/bundle_writer.h"

namespace unhang::collect {

std::string time_stamp(std::int64_t ns_since_epoch) {
  constexpr std::size_t kMilliseconds = 23;  // "2026-11-29T15:01:29.123"
  std::string out;
  for (const char c : base::utc_text(ns_since_epoch).substr(0, kMilliseconds)) {
    if (c != '-' && c != ':') out += c;
  }
  return out + "Z";
}

std::string CaptureNames::next(std::string_view folder, std::int64_t time_ns, std::string_view whose,
                               std::string_view ending) {
  return fmt::format("{}/{:03}-{}-{}{}", folder, x_next++, time_stamp(time_ns), clean_name(whose), ending);
}

}  // namespace unhang::collect
