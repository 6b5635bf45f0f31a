// SPDX-License-Identifier: Apache-2.0
#include "detect/last_lines.h"

#include <algorithm>

#include "detect/log_analysis.h"

namespace unhang::detect {

using model::LogEvent;
using model::LogEventKind;

LastLines::LastLines(const LogAnalysis& logs, std::initializer_list<LogEventKind> signs, Requests requests) {
  for (const LogEventKind sign : signs) {
    const bool tokens = sign == LogEventKind::kRequestProgress && requests == Requests::kWithTokens;
    for (const LogEvent* event : logs.of(sign)) {
      if (tokens && event->code != 1) continue;
      std::uint64_t& line = x_lines[event->input];
      line = std::max(line, event->last_line);
    }
  }
}

std::uint64_t LastLines::in(std::uint32_t input) const {
  const auto at = x_lines.find(input);
  return at == x_lines.end() ? 0 : at->second;
}

}  // namespace unhang::detect
