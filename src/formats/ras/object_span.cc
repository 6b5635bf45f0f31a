// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/object_span.h"

#include <algorithm>
#include <cstring>

namespace unhang::formats::ras {
namespace {

// A line that no JSON text has inside: NCCL indents what is in an object, and words begin with a small
// letter.
bool begins_something_else(std::string_view rest) {
  if (rest.empty()) return false;
  const char c = rest.front();
  return c == '{' || (c >= 'A' && c <= 'Z') || (c == '[' && rest.size() > 1 && rest[1] == '2');
}

// An object on one line, or in a form that NCCL does not print: brackets tell its end.
std::size_t end_by_brackets(std::string_view bytes) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\n' && begins_something_else(bytes.substr(i + 1))) return i + 1;
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
  }
  return bytes.size();
}

// Pretty printed: its end is the first line that begins with "}".
std::size_t end_by_lines(std::string_view bytes, ObjectSpan& span) {
  constexpr std::string_view kClose = "    }";
  const char* const end = bytes.data() + bytes.size();
  const char* at = bytes.data();
  while ((at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) !=
         nullptr) {
    const char* const line = ++at;
    ++span.lines;
    if (line == end) break;
    const auto offset = static_cast<std::size_t>(line - bytes.data());
    if (*line == ' ') {
      if (static_cast<std::size_t>(end - line) >= kClose.size() &&
          std::memcmp(line, kClose.data(), kClose.size()) == 0) {
        span.closes.push_back({offset + kClose.size(), span.lines});
      }
      continue;
    }
    if (*line == '}') return offset + 1;
    if (begins_something_else(bytes.substr(offset))) return offset;
  }
  return bytes.size();
}

}  // namespace

ObjectSpan object_at(std::string_view bytes) {
  ObjectSpan out;
  const std::size_t second = std::min(bytes.find_first_not_of(" \t\r", 1), bytes.size());
  const bool pretty = second + 1 < bytes.size() && bytes[second] == '\n' && bytes[second + 1] == ' ';
  if (pretty) {
    out.text = bytes.substr(0, end_by_lines(bytes, out));
  } else {
    out.text = bytes.substr(0, end_by_brackets(bytes));
    out.lines = static_cast<std::uint64_t>(std::count(out.text.begin(), out.text.end(), '\n'));
  }
  return out;
}

}  // namespace unhang::formats::ras
