// SPDX-License-Identifier: Apache-2.0
#include "formats/log/keyword_filter.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace unhang::formats::log {
namespace {

constexpr std::size_t kWindow = 4;

std::uint32_t four(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t two(const char* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint32_t bucket_of(std::uint32_t value, std::size_t buckets) {
  return static_cast<std::uint32_t>((value * 2654435761u) >> 19) & static_cast<std::uint32_t>(buckets - 1);
}

// How often a byte stands in logs, roughly: a window of rare bytes makes fewer false hits.
int commonness(char byte) {
  constexpr std::string_view kOften = " etaoinsrlcd0123456789.";
  if (kOften.find(byte) != std::string_view::npos) return 3;
  if (byte >= 'a' && byte <= 'z') return 2;
  return byte == ':' || byte == '_' || byte == '[' || byte == ']' ? 2 : 1;
}

std::uint32_t rarest_window(std::string_view text) {
  std::uint32_t best = 0;
  int least = 1 << 20;
  for (std::size_t at = 0; at + kWindow <= text.size(); ++at) {
    // The two last bytes decide how often the four are looked at.
    const int cost = commonness(text[at]) + commonness(text[at + 1]) +
                     3 * (commonness(text[at + 2]) + commonness(text[at + 3]));
    if (cost < least) {
      least = cost;
      best = static_cast<std::uint32_t>(at);
    }
  }
  return best;
}

}  // namespace

void KeywordFilter::add(std::string_view text, unsigned owner) {
  if (text.size() < kWindow || owner > 31) throw std::invalid_argument("a keyword has at least 4 bytes");
  const auto known = std::find_if(x_keywords.begin(), x_keywords.end(),
                                  [&](const Keyword& keyword) { return keyword.text == text; });
  if (known != x_keywords.end()) {
    known->owners |= 1u << owner;
  } else {
    x_keywords.push_back({.text = std::string(text), .window = rarest_window(text), .owners = 1u << owner});
  }
}

void KeywordFilter::prepare() {
  x_shift.assign(1 << 16, kWindow - 1);
  std::vector<std::uint32_t> buckets(x_keywords.size());
  x_buckets.fill(0);
  for (std::size_t i = 0; i < x_keywords.size(); ++i) {
    const char* window = x_keywords[i].text.data() + x_keywords[i].window;
    for (std::size_t end = 2; end <= kWindow; ++end) {
      std::uint8_t& shift = x_shift[two(window + end - 2)];
      shift = std::min(shift, static_cast<std::uint8_t>(kWindow - end));
    }
    buckets[i] = bucket_of(four(window), kBuckets);
    ++x_buckets[buckets[i] + 1];
  }
  for (std::size_t i = 0; i < kBuckets; ++i) x_buckets[i + 1] += x_buckets[i];
  x_order.resize(x_keywords.size());
  std::vector<std::uint32_t> next(x_buckets.begin(), x_buckets.end() - 1);
  for (std::size_t i = 0; i < x_keywords.size(); ++i) {
    x_order[next[buckets[i]]++] = static_cast<std::uint32_t>(i);
  }
}

std::uint32_t KeywordFilter::owners(std::string_view line) const {
  std::uint32_t found = 0;
  const std::uint8_t* shifts = x_shift.data();
  const char* begin = line.data();
  for (std::size_t end = kWindow; end <= line.size();) {
    const std::uint8_t shift = shifts[two(begin + end - 2)];
    if (shift != 0) {
      end += shift;
      continue;
    }
    const std::size_t start = end - kWindow;
    const std::uint32_t bucket = bucket_of(four(begin + start), kBuckets);
    for (std::uint32_t i = x_buckets[bucket]; i != x_buckets[bucket + 1]; ++i) {
      const Keyword& keyword = x_keywords[x_order[i]];
      if ((keyword.owners & ~found) == 0 || keyword.window > start) continue;
      if (line.substr(start - keyword.window, keyword.text.size()) == keyword.text) found |= keyword.owners;
    }
    ++end;
  }
  return found;
}

}  // namespace unhang::formats::log
