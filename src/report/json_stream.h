// SPDX-License-Identifier: Apache-2.0
//
// JSON that is too long for a tree of values: written piece by piece through a small buffer. The caller keeps
// the order of keys and brackets; this makes the texts and numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace unhang::report {

// Takes the next bytes of the output.
using ByteSink = std::function<void(std::string_view)>;

class JsonStream {
 public:
  explicit JsonStream(ByteSink sink) : x_sink(std::move(sink)) { x_buffer.reserve(kBuffer + 4096); }
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  // As it stands: brackets, keys that need no escape, commas.
  JsonStream& raw(std::string_view text) {
    x_buffer += text;
    if (x_buffer.size() >= kBuffer) flush();
    return *this;
  }
  JsonStream& number(std::int64_t value);
  JsonStream& number_or_null(std::optional<std::int64_t> value);
  // Quoted and escaped; always valid UTF-8, bytes that are none are spelled out as "\x9f".
  JsonStream& text(std::string_view value);
  JsonStream& text_or_null(std::string_view value) { return value.empty() ? raw("null") : text(value); }
  JsonStream& boolean(bool value) { return raw(value ? "true" : "false"); }
  void flush();

 private:
  static constexpr std::size_t kBuffer = 1 << 16;
  ByteSink x_sink;
  std::string x_buffer;
};

// A quoted and escaped text, for those that are written many times.
std::string json_text(std::string_view value);

}  // namespace unhang::report
