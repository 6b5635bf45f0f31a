// SPDX-License-Identifier: Apache-2.0
//
// By file, the last line on which certain events stand: whether something went on behind a line is asked of
// this. Lines of different files have no order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>

#include "model/log_event.h"

namespace unhang::detect {

struct LogAnalysis;

enum class Requests : std::uint8_t {
  kWithTokens,  // a line of an engine's throughput counts where tokens flow
  kAny,         // also where it is idle
};

class LastLines {
 public:
  LastLines() = default;
  // Linear in the events of these kinds.
  LastLines(const LogAnalysis& logs, std::initializer_list<model::LogEventKind> signs,
            Requests requests = Requests::kWithTokens);

  // 0: none.
  std::uint64_t in(std::uint32_t input) const;
  // One of them stands behind the last line of `event`, in its file.
  bool behind(const model::LogEvent& event) const { return in(event.input) > event.last_line; }
  const std::map<std::uint32_t, std::uint64_t>& by_input() const { return x_lines; }

 private:
  std::map<std::uint32_t, std::uint64_t> x_lines;
};

}  // namespace unhang::detect
