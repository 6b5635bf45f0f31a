// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/json_ending.h"

#include <cstddef>

namespace unhang::formats::flight_recorder {
namespace {

constexpr std::size_t kDeepest = 1024;  // of the parser

struct Ending {
  std::size_t whole = 0;  // bytes up to the end of the last whole entry
  std::string closing;    // what closes the brackets that are open there
  bool cut = false;
};

// Follows strings and brackets only; stops at a bracket that closes none.
Ending find_ending(std::string_view json) {
  Ending out;
  std::string open;  // the closing brackets that are due, innermost last
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') {
      if (open.size() >= kDeepest) return out;
      open.push_back(c == '{' ? '}' : ']');
    }
    if (c != '}' && c != ']') continue;
    if (open.empty() || open.back() != c) return out;
    open.pop_back();
    // Entries stand in a list in the outermost dictionary; in the oldest form that list is the whole.
    const std::size_t around_entries = !open.empty() && open.front() == ']' ? 1 : 2;
    if (open.size() > around_entries) continue;
    out.whole = i + 1;
    out.closing.assign(open.rbegin(), open.rend());
  }
  out.cut = in_string || !open.empty();
  return out;
}

}  // namespace

bool is_cut(std::string_view json) {
  return find_ending(json).cut;
}

std::string closed_prefix(std::string_view json) {
  const Ending ending = find_ending(json);
  if (!ending.cut || ending.whole == 0) return {};
  return std::string(json.substr(0, ending.whole)) + ending.closing;
}

}  // namespace unhang::formats::flight_recorder
