// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/embedded_stacks.h"

#include <cstring>
#include <utility>

#include "formats/stacks/stack_lines.h"

namespace unhang::formats::stacks {
namespace {

constexpr std::string_view kSign = "(most recent call first):";
constexpr std::size_t kLongestLine = 16'384;  // of a header; longer ones are foreign
constexpr std::size_t kForeignLines = 2'000;  // other writers' lines between two of a stack

// memmem is several times as fast as string_view::find, and this sees every byte of every log.
std::size_t find_sign(std::string_view bytes) {
  const void* at = memmem(bytes.data(), bytes.size(), kSign.data(), kSign.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<std::size_t>(static_cast<const char*>(at) - bytes.data());
}

}  // namespace

void EmbeddedStacks::line(std::string_view text) {
  StackLines plain(text.substr(0, kLongestLine));
  const auto shown = plain.next();
  if (shown && x_reader.line(*shown)) {
    x_foreign = 0;
    x_reading = true;
  } else if (++x_foreign > kForeignLines) {
    x_reading = false;
  }
}

void EmbeddedStacks::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!x_open.empty()) {  // the rest of a line that the last block began
      const std::size_t end = bytes.find('\n');
      if (x_open.size() < kLongestLine) x_open += bytes.substr(0, end);
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      if (x_reading || find_sign(x_open) != std::string_view::npos) line(x_open);
      x_open.clear();
      continue;
    }
    if (!x_reading) {
      const std::size_t sign = find_sign(bytes);
      const std::size_t end = bytes.rfind('\n', sign);
      if (end != std::string_view::npos) bytes.remove_prefix(end + 1);
      if (sign == std::string_view::npos) {
        x_open = bytes.substr(0, kLongestLine);
        return;
      }
    }
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      x_open = bytes.substr(0, kLongestLine);
      return;
    }
    line(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
}

void EmbeddedStacks::finish(Evidence& evidence) {
  if (!x_open.empty()) line(x_open);
  x_reader.finish();
  for (auto& sample : x_found.process_samples) evidence.process_samples.push_back(std::move(sample));
  for (auto& problem : x_found.problems) evidence.problems.push_back(std::move(problem));
}

}  // namespace unhang::formats::stacks
