// SPDX-License-Identifier: Apache-2.0
#include "cli/side_documents.h"

#include <algorithm>
#include <array>

#include "base/ascii_class.h"

namespace unhang::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// "README.md", also of an archive ("case.tar.gz!README.md").
bool has_ending_of_prose(std::string_view path) {
  constexpr std::array<std::string_view, 5> kEndings{".md", ".markdown", ".rst", ".html", ".adoc"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return path.size() > ending.size() &&
           base::equals_any_case(path.substr(path.size() - ending.size()), ending);
  });
}

// Whether the first line leaves a value of JSON open.
bool is_open_at_line_end(std::string_view text) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') return depth > 0 && !in_text;
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '{' || c == '[')) {
      ++depth;
    } else if (!in_text && (c == '}' || c == ']') && depth-- <= 1) {
      return false;
    }
  }
  return false;
}

}  // namespace

bool is_json_document(std::string_view first) {
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  const std::size_t begin = first.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return false;
  first.remove_prefix(begin);
  const std::size_t inside = first.find_first_not_of(kBlanks, 1);
  if (inside == std::string_view::npos) return false;
  // "[0] NCCL INFO" and "{'loss': 1}" are lines of logs.
  if (first[0] == '{' && first[inside] != '"') return false;
  if (first[0] == '[' && first[inside] != '{') return false;
  return (first[0] == '{' || first[0] == '[') && is_open_at_line_end(first);
}

std::optional<std::string_view> why_no_log(std::string_view path, std::string_view first) {
  if (has_ending_of_prose(path)) return "a document beside the evidence, not read; name it to have it read";
  if (is_json_document(first)) return "a JSON document and no log";
  return std::nullopt;
}

}  // namespace unhang::cli
