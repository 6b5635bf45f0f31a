// SPDX-License-Identifier: Apache-2.0
//
// For unit tests: a text as a log.
#pragma once

#include <string_view>

#include "formats/log/reader.h"

namespace unhang::formats::log {

inline model::Log read_log(std::string_view text) {
  LogReader reader;
  reader.feed(text);
  return reader.finish();
}

// The first event of a kind; a test that dereferences nullptr has failed.
inline const model::LogEvent* event_of(const model::Log& log, model::LogEventKind kind) {
  for (const model::LogEvent& event : log.events) {
    if (event.kind == kind) return &event;
  }
  return nullptr;
}

}  // namespace unhang::formats::log
