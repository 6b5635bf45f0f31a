// SPDX-License-Identifier: Apache-2.0
//
// Where the families of messages put what they found. Keeps memory at the size of the facts: identical events
// of one writer share a record, and every list has a bound, beyond which facts are counted as forgotten.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/log/line.h"
#include "model/log.h"

namespace unhang::formats::log {

class Facts {
 public:
  // `log` must outlive this.
  explicit Facts(model::Log& log) : x_log(log), x_recent(kRecent, kNone) {}
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  // Index of a writer, the same for the same writer.
  std::uint32_t origin(const model::LogOrigin& origin);

  // The caller sets kind, code, rank, subject, peer and detail; everything else comes from `line`. A kind,
  // origin, run and these fields that were there before only count up. `text`: the message unless set.
  void add(model::LogEvent event, const Line& line);
  void add(model::WatchdogTimeout timeout, const Line& line);

  // From here on another start of the program wrote the lines.
  void start_run();
  std::uint32_t run() const { return x_run; }

  // For the families that fill lists of their own (communicators, tables).
  model::Log& log() { return x_log; }

 private:
  static constexpr std::size_t kRecent = 4096;
  static constexpr std::uint32_t kNone = ~0u;

  // Where it is the same as that one, counts it up.
  bool again(std::uint32_t known, const model::LogEvent& event, const Line& line);

  model::Log& x_log;
  std::uint32_t x_run = 0;
  std::unordered_multimap<std::uint64_t, std::uint32_t> x_origins, x_events;  // hash -> index
  // The same, of those that came lately, by hash: most lines of a long log say again what was just said.
  std::vector<std::uint32_t> x_recent;
};

// `text` without secrets (base/redaction.h), cut at 200 bytes on a boundary of UTF-8, bytes that are none
// made visible.
std::string shown(std::string_view text);

}  // namespace unhang::formats::log
