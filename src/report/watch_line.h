// SPDX-License-Identifier: Apache-2.0
//
// What `unhang watch` shows: one line an instance for a screen that is drawn again, one line a change for a
// log, one JSON object a reading for a program (schema unhang.watch/1, docs/watch.md). Times are nanoseconds
// since 1970.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/instance_state.h"

namespace unhang::report {

struct WatchOptions {
  int width = 80;
  bool color = false;
  std::int64_t now_ns = 0;
};

// One line an instance, and indented ones below an instance that is not well: why, what was found, which
// signal could not be used. Every line is at most `width` columns.
std::vector<std::string> watch_screen(const std::vector<model::InstanceState>& instances,
                                      const WatchOptions& options);

// "2026-11-29T20:55:26.120Z chat: advancing -> stopped since 20:55:20Z: …". `before` empty: the first line.
std::string watch_change(const model::InstanceState& instance, std::optional<model::State> before,
                         const WatchOptions& options);

// One object and a line break. `changed`: the state is another one than before.
std::string watch_json(const model::InstanceState& instance, bool changed, std::int64_t now_ns);
std::string watch_capture_json(const std::string& instance, const std::string& folder,
                               const std::string& trouble, std::int64_t now_ns);

}  // namespace unhang::report
