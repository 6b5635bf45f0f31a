// SPDX-License-Identifier: Apache-2.0
#include "formats/log/traceback.h"

#include "formats/log/fields.h"
#include "formats/log/python_exception.h"

namespace unhang::formats::log {
namespace {

constexpr int kTracebackLines = 400;       // of one writer; deep stacks of two lines a frame
constexpr std::size_t kWriters = 1 << 12;  // whose tracebacks are followed

}  // namespace

Tracebacks::State* Tracebacks::state_of(std::uint32_t origin) {
  const auto it = x_states.find(origin);
  if (it != x_states.end()) return &it->second;
  if (x_states.size() >= kWriters) return nullptr;
  return &x_states[origin];
}

void Tracebacks::close(State& state) {
  if (state.lines_left > 0) --x_open;
  state.lines_left = 0;
}

bool Tracebacks::take(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (has(text, "Traceback (most recent call last)")) {
    State* state = state_of(line.origin);
    if (state == nullptr) return true;
    if (state->lines_left == 0) ++x_open;
    state->lines_left = kTracebackLines;
    state->quiet = state->quiet_next;
    state->quiet_next = false;
    return true;
  }
  if (has(text, "the above exception, another") || has(text, "above exception was the direct cause") ||
      has(text, "Exception ignored in") || has(text, "--- Logging error ---")) {
    if (State* state = state_of(line.origin)) {
      close(*state);
      state->quiet_next = true;
    }
    return true;
  }
  const auto it = x_states.find(line.origin);
  const bool inside = it != x_states.end() && it->second.lines_left > 0;
  if (inside && --it->second.lines_left == 0) --x_open;
  // Frames are indented, the exception is not. Where blanks were lost, the words tell.
  if (text.starts_with(' ') || text.starts_with('\t')) return false;
  const PythonException exception = read_python_exception(text, !inside);
  if (exception.type.empty()) return false;
  const bool quiet = inside && it->second.quiet;
  if (inside) close(it->second);
  if (told_elsewhere(exception)) return false;
  if (!quiet) add_python_exception(exception, line, facts);
  return true;
}

}  // namespace unhang::formats::log
