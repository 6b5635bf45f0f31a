// SPDX-License-Identifier: Apache-2.0
#include "base/similar.h"

#include <algorithm>
#include <utility>

namespace unhang::base {
namespace {

constexpr std::size_t kLongestWord = 64;  // bounds the work on what a stranger typed
constexpr std::size_t kShortestBeginning = 3;

bool begins(std::string_view text, std::string_view beginning) {
  return beginning.size() >= kShortestBeginning && text.substr(0, beginning.size()) == beginning;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> before(width), last(width), row(width);  // rows i-2, i-1 and i
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[to.size()];
}

std::vector<std::string_view> similar_words(std::string_view typed, std::span<const std::string_view> words,
                                            std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  if (typed.empty() || typed.size() > kLongestWord) return {};
  for (const std::string_view word : words) {
    if (word.size() > kLongestWord) continue;
    const std::size_t distance = edit_distance(typed, word);
    const std::size_t longer = std::max(typed.size(), word.size());
    if (distance * 3 <= longer || begins(word, typed) || begins(typed, word))
      near.emplace_back(distance, word);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > limit) near.resize(limit);
  std::vector<std::string_view> out;
  out.reserve(near.size());
  for (const auto& [distance, word] : near) out.push_back(word);
  return out;
}

}  // namespace unhang::base
