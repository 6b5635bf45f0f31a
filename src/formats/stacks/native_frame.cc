// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/native_frame.h"

#include <algorithm>
#include <utility>

#include "formats/stacks/stack_lines.h"
#include "model/mixed_stack.h"

namespace unhang::formats::stacks {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool take_address(std::string_view& text) {
  if (!text.starts_with("0x")) return false;
  const std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", 2);
  text.remove_prefix(std::min(end, text.size()));
  return true;
}

bool is_operator_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kOperator = "operator";
  return at >= kOperator.size() && text.substr(at - kOperator.size(), kOperator.size()) == kOperator;
}

// "file.c:123" into its parts.
void split_place(std::string_view place, model::StackFrame& frame) {
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view digits = place.substr(colon + 1);
    const auto line = take_number(digits);
    if (line && digits.empty()) {
      frame.line = *line;
      place = place.substr(0, colon);
    }
  }
  frame.file = place;
}

// python-gdb.py shows the frame argument of the loop as "Frame 0x…, for file /x/train.py, line 12, in train
// (…)".
std::optional<model::StackFrame> python_in(std::string_view arguments) {
  constexpr std::string_view kFor = "for file ";
  const std::size_t begin = arguments.find(kFor);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = arguments.substr(begin + kFor.size());
  const std::size_t comma = rest.find(", line ");
  if (comma == std::string_view::npos) return std::nullopt;
  model::StackFrame frame;
  frame.file = rest.substr(0, comma);
  rest.remove_prefix(comma + 7);
  const auto line = take_number(rest);
  if (!line || !take(rest, ", in ")) return std::nullopt;
  frame.line = *line;
  frame.function = rest.substr(0, rest.find_first_of(" ()"));
  frame.python = true;
  return frame;
}

// What stands behind the address: "name (arguments) at file:line", "… from library", "name - library".
model::StackFrame read_call(std::string_view text) {
  model::StackFrame frame;
  std::string_view call = text;
  std::string_view library;
  if (const std::size_t from = text.rfind(" from "); from != std::string_view::npos) {
    call = text.substr(0, from);
    library = text.substr(from + 6);
  } else if (const std::size_t at = text.rfind(" at "); at != std::string_view::npos) {
    call = text.substr(0, at);
    split_place(text.substr(at + 4), frame);
  } else if (const std::size_t dash = text.rfind(" - "); dash != std::string_view::npos) {
    call = text.substr(0, dash);
    library = text.substr(dash + 3);
  }
  if (!library.empty()) frame.file = library;
  frame.function = short_function(call);
  if (frame.function == "??") frame.function.clear();
  if (model::is_interpreter_loop(frame.function)) {
    if (auto python = python_in(call)) return std::move(*python);
  }
  return frame;
}

}  // namespace

std::string short_function(std::string_view text) {
  constexpr std::size_t kMaxLooked = 16'384;
  text = text.substr(0, kMaxLooked);
  if (text.starts_with("<signal handler")) return "<signal handler called>";
  std::string out;
  std::size_t angle = 0;
  std::size_t brace = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view rest = text.substr(at);
    if (angle == 0 && brace == 0) {
      if (rest.starts_with(kAnonymous)) {
        out += kAnonymous;
        at += kAnonymous.size() - 1;
        continue;
      }
      if (is_operator_at(text, at) && (c == '<' || c == '>' || c == '-' || rest.starts_with("()"))) {
        const std::size_t end = rest.find_first_not_of("<>=-()");
        const std::size_t size = c == '(' ? 2 : std::min({end, rest.find('('), rest.size()});
        out += rest.substr(0, size);
        at += size - 1;
        continue;
      }
      if (c == '(') break;
      if (c == ' ' && (out == "void" || out == "bool" || out == "int")) {
        out.clear();  // the result's type, which templates show
        continue;
      }
      if (c == '<') out += "<…>";
      if (c != '<' && c != '{') out += c;
      if (c == '{') out += "{…}";
    }
    if (c == '{') ++brace;
    if (c == '}' && brace > 0 && --brace == 0) continue;
    if (brace > 0) continue;
    if (c == '<') ++angle;
    if (c == '>' && angle > 0) --angle;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string native_name(std::string_view text) {
  const bool is_address =
      text.starts_with("0x") && text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
  return is_address ? std::string() : short_function(text);
}

std::optional<NumberedFrame> read_native_frame(std::string_view line) {
  if (!take(line, "#")) return std::nullopt;
  const auto number = take_number(line);
  if (!number || line.empty() || line.front() != ' ') return std::nullopt;
  skip_blanks(line);
  const bool has_address = take_address(line);
  skip_blanks(line);
  if (!take(line, "in ") && has_address) take(line, "- 1 ");  // eu-stack marks return addresses
  skip_blanks(line);
  NumberedFrame out{*number, read_call(line)};
  // "#1 second" is a line of a list.
  if (!has_address && line.find('(') == std::string_view::npos && !line.starts_with("<signal"))
    return std::nullopt;
  return out;
}

}  // namespace unhang::formats::stacks
