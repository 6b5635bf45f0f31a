// SPDX-License-Identifier: Apache-2.0
#include "base/rank_set.h"

#include <algorithm>
#include <charconv>

namespace unhang::base {
namespace {

constexpr std::size_t kShortestStridedRun = 4;

std::size_t run_length(std::span<const std::int32_t> sorted, std::size_t from, std::int64_t stride) {
  std::size_t end = from + 1;
  while (end < sorted.size() && std::int64_t{sorted[end]} - sorted[end - 1] == stride) ++end;
  return end - from;
}

std::optional<std::int32_t> parse_number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

constexpr std::string_view kEvery = " (every ";

// "2nd", "8th", "21st"
std::string ordinal(std::int64_t number) {
  const std::int64_t last = number % 10, teen = number % 100;
  const bool is_teen = teen >= 11 && teen <= 13;
  const char* ending = is_teen ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(number) + ending;
}

// What follows a run: ":8", or " (every 8th)". Takes it off; 1 where there is none, nullopt where it is
// wrong.
std::optional<std::int32_t> take_stride(std::string_view& item) {
  std::optional<std::int32_t> stride = 1;
  if (const std::size_t every = item.find(kEvery); every != std::string_view::npos) {
    std::string_view number = item.substr(every + kEvery.size());
    number = number.substr(0, number.find_first_not_of("0123456789"));
    stride = parse_number(number);
    if (stride && item.substr(every + kEvery.size()) != ordinal(*stride) + ")") stride.reset();
    item = item.substr(0, every);
  } else if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
    stride = parse_number(item.substr(colon + 1));
    item = item.substr(0, colon);
  }
  return stride == 0 ? std::nullopt : stride;
}

}  // namespace

std::string fold_ranks(std::span<const std::int32_t> ranks) {
  std::vector<std::int32_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string out;
  for (std::size_t i = 0; i < sorted.size();) {
    if (!out.empty()) out += ',';
    const std::size_t plain = run_length(sorted, i, 1);
    std::size_t used = plain;
    out += std::to_string(sorted[i]);
    if (plain > 1) {
      out += (plain == 2 ? ',' : '-') + std::to_string(sorted[i + plain - 1]);
    } else if (i + 1 < sorted.size()) {
      const std::int64_t stride = std::int64_t{sorted[i + 1]} - sorted[i];
      const std::size_t strided = run_length(sorted, i, stride);
      if (strided >= kShortestStridedRun) {
        out += '-' + std::to_string(sorted[i + strided - 1]) + std::string(kEvery) + ordinal(stride) + ')';
        used = strided;
      }
    }
    i += used;
  }
  return out;
}

std::optional<std::vector<std::int32_t>> parse_ranks(std::string_view text, std::size_t limit) {
  std::vector<std::int32_t> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty()) return std::nullopt;
    const auto stride = take_stride(item);
    if (!stride) return std::nullopt;
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    if (static_cast<std::size_t>((*last - *first) / *stride) + 1 > limit - std::min(limit, out.size()))
      return std::nullopt;
    for (std::int64_t rank = *first; rank <= *last; rank += *stride)
      out.push_back(static_cast<std::int32_t>(rank));
  }
  return out;
}

}  // namespace unhang::base
