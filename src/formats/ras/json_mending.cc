// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_mending.h"

#include <string_view>

namespace unhang::formats::ras {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Lists of whole things: communicators in the answer, ranks in a communicator.
bool is_list_of_wholes(const std::string& open) {
  return open.back() == ']' && (open.size() == 2 || open.size() == 4);
}

}  // namespace

std::size_t add_missing_commas(std::string& json) {
  constexpr std::string_view kBefore = "\"nvml_dev\"";
  constexpr std::string_view kAfter = "\"status\"";
  std::size_t added = 0;
  std::size_t at = json.find(kBefore);
  while (at != std::string::npos) {
    const std::size_t number = json.find_first_not_of(": \t", at + kBefore.size());
    const std::size_t end = json.find_first_not_of("-0123456789", number);
    const std::size_t next = json.find_first_not_of(kBlanks, end);
    if (end != std::string::npos && next != std::string::npos && next > end &&
        json.compare(next, kAfter.size(), kAfter) == 0) {
      json[end] = ',';
      ++added;
    }
    at = json.find(kBefore, at + kBefore.size());
  }
  return added;
}

bool close_open_end(std::string& json) {
  constexpr std::size_t kDeepest = 1024;  // of the parser
  std::string open;                       // the closing brackets that are due, innermost last
  std::size_t whole = 0;
  std::string closing;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    std::size_t end = 0;  // of something whole
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (open.size() >= kDeepest) return false;
      open.push_back(c == '{' ? '}' : ']');
      if (c == '[' && is_list_of_wholes(open)) end = i + 1;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
      if (open.empty()) return false;
      if (open.size() == 1 || is_list_of_wholes(open)) end = i + 1;
    } else if (c == ',' && open.size() == 1) {
      end = i;
    }
    if (end == 0) continue;
    whole = end;
    closing.assign(open.rbegin(), open.rend());
  }
  if (whole == 0) return false;
  json.resize(whole);
  json += closing;
  return true;
}

void replace_foreign_bytes(std::string& json) {
  for (char& c : json) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
}

}  // namespace unhang::formats::ras
