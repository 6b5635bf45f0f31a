// SPDX-License-Identifier: Apache-2.0
#include "formats/log/line_blocks.h"

#include <algorithm>

namespace unhang::formats::log {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Behind the last line that is whole; 0: there is none. A \r at the very end may be half of an end.
std::size_t end_of_lines(std::string_view bytes) {
  if (const std::size_t at = bytes.rfind('\n'); at != std::string_view::npos) return at + 1;
  const std::size_t at = bytes.substr(0, bytes.size() - std::min(bytes.size(), std::size_t{1})).rfind('\r');
  return at == std::string_view::npos ? 0 : at + 1;
}

}  // namespace

void LineBlocks::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (x_dropping) {
      bytes.remove_prefix(std::min(bytes.find_first_of("\r\n"), bytes.size()));
      if (bytes.empty()) return;
      x_dropping = false;
    }
    const std::size_t room = std::max(kBlock, x_kept.size() + 1) - x_kept.size();
    const std::string_view piece = bytes.substr(0, room);
    x_kept.append(piece);
    bytes.remove_prefix(piece.size());
    if (x_kept.size() < kBlock) return;
    flush();
    x_dropping = x_kept.size() >= kBlock && x_kept.back() != '\r';
  }
}

void LineBlocks::flush() {
  if (const std::size_t end = end_of_lines(x_kept); end != 0) give(end);
}

void LineBlocks::finish() {
  if (!x_kept.empty()) give(x_kept.size());
}

void LineBlocks::give(std::size_t length) {
  const std::string rest = x_kept.substr(length);
  x_kept.resize(length);
  if (std::exchange(x_first, false) && x_kept.starts_with(kByteOrderMark))
    x_kept.erase(0, kByteOrderMark.size());
  x_on_block(x_kept);
  x_kept = rest;
}

}  // namespace unhang::formats::log
