// SPDX-License-Identifier: Apache-2.0
#include "formats/log/keyword_filter.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace unhang::formats::log {
namespace {

constexpr std::size_t kWindow = 4;

std::uint32_t four(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// How often a byte stands in logs, roughly: a window of rare bytes makes fewer false hits.
int commonness(char byte) {
  constexpr std::string_view kOften = " etaoinsrlcd0123456789.";
  if (kOften.find(byte) != std::string_view::npos) return 3;
  if (byte >= 'a' && byte <= 'z') return 2;
  return byte == ':' || byte == '_' || byte == '[' || byte == ']' ? 2 : 1;
}

// How often the four bytes at `at` are met, roughly.
int commonness(std::string_view text, std::size_t at) {
  int sum = 0;
  for (const char byte : text.substr(at, kWindow)) sum += commonness(byte);
  return sum;
}

// The window of the least common bytes among those that begin an even or an odd number of bytes behind the
// beginning of `text`; there must be one.
std::size_t rarest_window(std::string_view text, std::size_t odd) {
  std::size_t best = odd;
  for (std::size_t at = odd; at + kWindow <= text.size(); at += 2) {
    if (commonness(text, at) < commonness(text, best)) best = at;
  }
  return best;
}

}  // namespace

void KeywordFilter::add(std::string_view text, unsigned owner) {
  if (text.size() < kWindow || owner > 63) throw std::invalid_argument("a keyword has at least 4 bytes");
  x_keywords.push_back({.text = std::string(text), .owners = std::uint64_t{1} << owner});
}

void KeywordFilter::unite_same_keywords() {
  std::sort(x_keywords.begin(), x_keywords.end(),
            [](const Keyword& a, const Keyword& b) { return a.text < b.text; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x_keywords.size(); ++i) {
    if (kept != 0 && x_keywords[kept - 1].text == x_keywords[i].text) {
      x_keywords[kept - 1].owners |= x_keywords[i].owners;
    } else {
      std::swap(x_keywords[kept++], x_keywords[i]);
    }
  }
  x_keywords.resize(kept);
}

void KeywordFilter::prepare() {
  unite_same_keywords();
  std::vector<Window> windows;
  for (std::uint32_t i = 0; i < x_keywords.size(); ++i) {
    const std::string& text = x_keywords[i].text;
    const std::uint32_t last = four(text.data() + text.size() - kWindow);
    for (const std::size_t odd : {0u, 1u}) {
      if (text.size() < kWindow + odd) {
        // Too short to hold a window that begins at the next place: the byte behind it may be any.
        for (unsigned any = 0; any < 256; ++any) {
          const std::string wider = text.substr(1) + static_cast<char>(any);
          windows.push_back({.bytes = four(wider.data()), .last = last, .before = 1, .keyword = i});
        }
        continue;
      }
      const auto at = static_cast<std::uint32_t>(rarest_window(text, odd));
      windows.push_back({.bytes = four(text.data() + at), .last = last, .before = at, .keyword = i});
    }
  }
  std::stable_sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return bucket_of(hash_of(a.bytes)) < bucket_of(hash_of(b.bytes));
  });
  x_bits.assign((std::size_t{1} << kHashBits) / 64, 0);
  x_buckets.assign(kBuckets + 1, 0);
  for (const Window& window : windows) {
    const std::uint32_t hash = hash_of(window.bytes);
    x_bits[hash >> 6] |= std::uint64_t{1} << (hash & 63u);
    ++x_buckets[bucket_of(hash) + 1];
  }
  for (std::size_t i = 0; i < kBuckets; ++i) x_buckets[i + 1] += x_buckets[i];
  x_windows = std::move(windows);
}

std::uint64_t KeywordFilter::found_at(std::string_view line, std::size_t at, std::uint32_t bytes) const {
  std::uint64_t found = 0;
  const std::size_t bucket = bucket_of(hash_of(bytes));
  for (std::uint32_t i = x_buckets[bucket]; i != x_buckets[bucket + 1]; ++i) {
    const Window& window = x_windows[i];
    if (window.bytes != bytes || window.before > at) continue;
    const Keyword& keyword = x_keywords[window.keyword];
    const std::size_t begin = at - window.before, length = keyword.text.size();
    if (line.size() - begin < length || four(line.data() + begin + length - kWindow) != window.last) continue;
    if (std::memcmp(line.data() + begin, keyword.text.data(), length) == 0) found |= keyword.owners;
  }
  return found;
}

std::uint64_t KeywordFilter::owners(std::string_view line) const {
  if (line.size() < kWindow) return 0;
  std::uint64_t found = 0;
  const char* begin = line.data();
  const std::uint64_t* const bits = x_bits.data();
  const auto bit_at = [&](std::size_t at) {
    const std::uint32_t hash = hash_of(four(begin + at));
    return bits[hash >> 6] >> (hash & 63u);
  };
  const auto look_at = [&](std::size_t at) {
    const std::uint32_t bytes = four(begin + at);
    if (may_begin(hash_of(bytes))) found |= found_at(line, at, bytes);
  };
  const std::size_t places = line.size() - kWindow + 1;
  std::size_t at = 0;
  for (; at + 8 <= places; at += 8) {
    const std::uint64_t any = bit_at(at) | bit_at(at + 2) | bit_at(at + 4) | bit_at(at + 6);
    if ((any & 1u) == 0) continue;  // one branch for four places
    for (std::size_t i = 0; i < 8; i += 2) look_at(at + i);
  }
  for (; at < places; at += 2) look_at(at);
  // A text of four bytes that ends with the line has no byte behind it.
  if (places % 2 == 0) look_at(places - 1);
  return found;
}

}  // namespace unhang::formats::log
