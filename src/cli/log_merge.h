// SPDX-License-Identifier: Apache-2.0
//
// Many logs to one stream of lines in the order of their times. Memory: one window (log_lines.h) and one
// block for each file, whatever their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/log_lines.h"
#include "os/byte_source.h"

namespace unhang::cli {

class LogMerge {
 public:
  struct Item {
    std::size_t file = 0;
    LogLine line;
  };

  // `follow`: the end of a source is not the end of its file; its last line is held until it has an end.
  // `writers` must outlive this.
  LogMerge(const LogWriters& writers, bool follow) : x_writers(writers), x_follow(follow) {}

  // Files are numbered in the order in which they are added. `source` must live until the end of this, or
  // until it is replaced. `window`: in lines.
  void add(os::ByteSource& source, const LogTimeRules& rules, std::size_t window = LogLines::kWindow);

  // The earliest line; of lines of the same time that of the first file. nullopt: all sources are at their
  // end. O(log of the files and of the window).
  std::optional<Item> next();

  // Sources may have more by now. Only where next() gave nullopt.
  void look_again();
  // The rest of the file comes from `source`, and begins with a new line. Only where next() gave nullopt.
  void replace(std::size_t file, os::ByteSource& source);
  // Hands out the lines that had no end, by next().
  void finish();

 private:
  struct File {
    os::ByteSource* source = nullptr;
    bool at_end = false;
    std::unique_ptr<LogLines> lines;
  };
  struct Head {
    std::int64_t ns;
    std::size_t file;
    // The last one comes first in a heap of the standard library.
    bool operator<(const Head& other) const { return ns != other.ns ? ns > other.ns : file > other.file; }
  };

  void fill(std::size_t file);

  const LogWriters& x_writers;
  bool x_follow;
  std::vector<File> x_files;
  std::vector<Head> x_heads;         // a heap: the first line of each file that has one
  std::vector<std::size_t> x_taken;  // files whose first line is not in x_heads
};

}  // namespace unhang::cli
