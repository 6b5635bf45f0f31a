// SPDX-License-Identifier: Apache-2.0
#include "report/json_stream.h"

#include <algorithm>
#include <charconv>

#include "base/printable.h"

namespace unhang::report {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void append_text(std::string& out, std::string_view value) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string json_text(std::string_view value) {
  std::string out;
  if (is_ascii(value)) {
    append_text(out, value);
  } else {
    append_text(out, base::printable(value));
  }
  return out;
}

JsonStream& JsonStream::number(std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return raw({digits, static_cast<std::size_t>(end - digits)});
}

JsonStream& JsonStream::number_or_null(std::optional<std::int64_t> value) {
  return value ? number(*value) : raw("null");
}

JsonStream& JsonStream::text(std::string_view value) {
  return raw(json_text(value));
}

void JsonStream::flush() {
  if (!x_buffer.empty()) x_sink(x_buffer);
  x_buffer.clear();
}

}  // namespace unhang::report
