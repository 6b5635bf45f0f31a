// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "formats/stacks/native_frame.h"
#include "formats/stacks/py_spy.h"
#include "formats/stacks/python_file.h"
#include "formats/stacks/sample_list.h"
#include "formats/stacks/stack_lines.h"

namespace unhang::formats::stacks {
namespace {

struct ProcessLine {
  std::int64_t pid = -1;
  std::string program;
};

// "Process 1234: /usr/bin/python3 train.py"
std::optional<ProcessLine> read_process_line(std::string_view line) {
  if (!take(line, "Process ")) return std::nullopt;
  const auto pid = take_number(line);
  if (!pid || !take(line, ": ")) return std::nullopt;
  return ProcessLine{*pid, program_of(line)};
}

// "Thread 765 (idle): "MainThread"", "Thread 0x7F3A (active+gil)", of old releases "Thread 0x7F3A/765 (idle)"
std::optional<model::ThreadSample> read_thread_line(std::string_view line) {
  if (!take(line, "Thread ")) return std::nullopt;
  model::ThreadSample thread;
  thread.source = model::StackSource::kPySpy;
  if (take(line, "0x")) {
    line.remove_prefix(std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size()));
    if (take(line, "/")) thread.thread = take_number(line).value_or(-1);
  } else if (const auto tid = take_number(line)) {
    thread.thread = *tid;
  } else {
    return std::nullopt;
  }
  if (take(line, " (active+gil)")) {
    thread.holds_interpreter = true;
  } else if (!take(line, " (idle)") && !take(line, " (active)")) {
    return std::nullopt;
  }
  if (line.empty()) return thread;
  if (!take(line, ": \"") || !line.ends_with('"')) return std::nullopt;
  thread.name = line.substr(0, line.size() - 1);
  thread.is_main = thread.name == "MainThread";
  return thread;
}

// "    train (pkg/train.py:12)", "    poll (libc.so.6)"; deeper lines are locals.
std::optional<model::StackFrame> read_frame_line(std::string_view line) {
  if (!take(line, "\t ") && !take(line, "    ")) return std::nullopt;
  if (line.empty() || line.front() == ' ' || !line.ends_with(')')) return std::nullopt;
  const std::size_t open = line.rfind(" (");
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  model::StackFrame frame;
  frame.function = line.substr(0, open);
  std::string_view place = line.substr(open + 2, line.size() - open - 3);
  if (const std::size_t colon = place.rfind(':'); colon != std::string_view::npos) {
    std::string_view digits = place.substr(colon + 1);
    const auto number = take_number(digits);
    if (number && digits.empty()) {
      frame.line = *number;
      place = place.substr(0, colon);
    }
  }
  frame.file = place;
  frame.python = is_python_file(frame.file);
  if (!frame.python) frame.function = native_name(frame.function);
  return frame;
}

void name_main_thread(model::ProcessSample& process) {
  for (const model::ThreadSample& thread : process.threads) {
    if (thread.is_main) return;
  }
  for (model::ThreadSample& thread : process.threads) {
    const bool runs_module = !thread.frames.empty() && thread.frames.back().function == "<module>";
    if (runs_module || (thread.thread >= 0 && thread.thread == process.pid)) {
      thread.is_main = true;
      return;
    }
  }
}

}  // namespace

bool sniff_py_spy_text(std::string_view bytes) {
  StackLines lines(bytes);
  bool after_process = false;
  bool after_thread = false;
  std::size_t foreign = 0;
  while (const auto line = lines.next()) {
    if (line->empty()) continue;
    if (++foreign > kForeignAtMost) return false;
    if (after_process && line->starts_with("Python v")) return true;
    if (after_thread && read_frame_line(*line)) return true;
    after_process = read_process_line(*line).has_value();
    after_thread = read_thread_line(*line).has_value();
  }
  return false;
}

void parse_py_spy_text(std::string_view bytes, Evidence& evidence) {
  SampleList list(evidence);
  StackLines lines(bytes);
  std::optional<std::size_t> process;
  std::optional<std::size_t> thread;
  while (const auto line = lines.next()) {
    if (const auto begun = read_process_line(*line)) {
      process = list.begin_process(begun->pid);
      thread = std::nullopt;
      if (process) list.process(*process).program = begun->program;
    } else if (auto found = read_thread_line(*line)) {
      // Without its header the file is still worth reading: its name may tell the process.
      if (!process && list.processes() == 0) process = list.begin_process(-1);
      thread = list.begin_thread(process, std::move(*found));
    } else if (auto frame = read_frame_line(*line)) {
      list.add_frame(process, thread, std::move(*frame));
    }
  }
  for (std::size_t i = 0; i < list.processes(); ++i) name_main_thread(list.process(i));
}

}  // namespace unhang::formats::stacks
