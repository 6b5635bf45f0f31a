// SPDX-License-Identifier: Apache-2.0
#include "cli/log_merge.h"

#include <algorithm>
#include <utility>

namespace unhang::cli {

void LogMerge::add(os::ByteSource& source, const LogTimeRules& rules, std::size_t window) {
  x_taken.push_back(x_files.size());
  x_files.push_back({&source, false, std::make_unique<LogLines>(rules, x_writers, x_files.size(), window)});
}

void LogMerge::fill(std::size_t at) {
  File& file = x_files[at];
  while (!file.at_end && !file.lines->window_is_full()) {
    const std::string_view block = file.source->next();
    file.at_end = block.empty();
    if (!file.at_end) {
      file.lines->feed(block);
    } else if (!x_follow) {
      file.lines->finish();
    }
  }
  if (file.lines->empty()) return;
  x_heads.push_back({file.lines->top().ns, at});
  std::push_heap(x_heads.begin(), x_heads.end());
}

std::optional<LogMerge::Item> LogMerge::next() {
  for (const std::size_t file : std::exchange(x_taken, {})) fill(file);
  if (x_heads.empty()) return std::nullopt;
  std::pop_heap(x_heads.begin(), x_heads.end());
  const std::size_t file = x_heads.back().file;
  x_heads.pop_back();
  x_taken.push_back(file);
  return Item{file, x_files[file].lines->pop()};
}

void LogMerge::look_again() {
  x_taken.clear();
  for (std::size_t i = 0; i < x_files.size(); ++i) {
    x_files[i].at_end = false;
    x_taken.push_back(i);
  }
}

void LogMerge::replace(std::size_t file, os::ByteSource& source) {
  x_files[file].source = &source;
  x_files[file].lines->feed("\n");
}

void LogMerge::finish() {
  x_taken.clear();
  for (std::size_t i = 0; i < x_files.size(); ++i) {
    x_files[i].lines->finish();
    x_files[i].at_end = true;
    x_taken.push_back(i);
  }
}

}  // namespace unhang::cli
