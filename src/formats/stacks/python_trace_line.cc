// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/python_trace_line.h"

#include "formats/stacks/stack_lines.h"

namespace unhang::formats::stacks {

std::optional<model::StackFrame> read_python_trace_line(std::string_view line) {
  take(line, "  ");
  model::StackFrame frame;
  frame.python = true;
  if (take(line, "File \"")) {
    const std::size_t close = line.find("\", line ");
    if (close == std::string_view::npos) return std::nullopt;
    frame.file = line.substr(0, close);
    line.remove_prefix(close + 8);
  } else if (take(line, "File ???, line ")) {
    frame.file = "???";
  } else {
    return std::nullopt;
  }
  if (!take(line, "???")) {
    const auto number = take_number(line);
    if (!number) return std::nullopt;
    frame.line = *number;
  }
  if (!take(line, ", in ") && !take(line, " in ")) return std::nullopt;
  // py-bt shows arguments: "train (self=<…>)".
  frame.function = line.substr(0, line.find(" ("));
  return frame;
}

}  // namespace unhang::formats::stacks
