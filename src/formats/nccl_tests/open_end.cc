// SPDX-License-Identifier: Apache-2.0
#include "formats/nccl_tests/open_end.h"

#include <cstddef>

namespace unhang::formats::nccl_tests {
namespace {

constexpr std::size_t kDeep = 64;

}  // namespace

Closed close_open_end(std::string_view json) {
  std::string open;           // the brackets that are open, as their closing ones
  std::size_t whole = 0;      // up to here all values are whole …
  std::string open_at_whole;  // … with these brackets open
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (open.size() >= kDeep) return {};
      open += c == '{' ? '}' : ']';
      whole = at + 1;  // an empty one is whole, too
      open_at_whole = open;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return {};
      open.pop_back();
      if (open.empty()) return {std::string(json.substr(0, at + 1)), false};
      whole = at + 1;
      open_at_whole = open;
    } else if (c == ',') {
      whole = at;
      open_at_whole = open;
    }
  }
  Closed closed{std::string(json.substr(0, whole)), true};
  closed.text.append(open_at_whole.rbegin(), open_at_whole.rend());
  return closed;
}

}  // namespace unhang::formats::nccl_tests
