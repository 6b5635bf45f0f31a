// SPDX-License-Identifier: Apache-2.0
//
// Cuts a stream of bytes into blocks that end where a line ends, so that each can be worked on by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace unhang::formats::log {

class LineBlocks {
 public:
  static constexpr std::size_t kBlock = 256 << 10;
  // The block is the callee's to change and to swap for another string, whose memory is used again.
  using OnBlock = std::function<void(std::string& block)>;
  explicit LineBlocks(OnBlock on_block) : x_on_block(std::move(on_block)) {}

  // Bytes may end anywhere. Hands out a block when kBlock bytes are there. Of a line that is longer the rest
  // is dropped: memory is bounded whatever comes.
  void feed(std::string_view bytes);
  // Hands out the whole lines that are there.
  void flush();
  // Hands out all that is left. Nothing may be fed afterwards.
  void finish();

 private:
  void give(std::size_t length);

  OnBlock x_on_block;
  std::string x_kept;
  bool x_first = true;      // a byte order mark may come
  bool x_dropping = false;  // the rest of a line that is too long
};

}  // namespace unhang::formats::log
