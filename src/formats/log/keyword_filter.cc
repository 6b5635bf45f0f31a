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

std::uint32_t two(const char* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// 16 bits, of Knuth's multiplicative hashing.
std::uint32_t hash_of(std::uint32_t value) {
  return value * 2654435761u >> 16;
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
    // The first two count more: by them most places are passed over.
    const int cost = 4 * (commonness(text[at]) + commonness(text[at + 1])) + commonness(text[at + 2]) +
                     commonness(text[at + 3]);
    if (cost < least) {
      least = cost;
      best = static_cast<std::uint32_t>(at);
    }
  }
  return best;
}

}  // namespace

void KeywordFilter::add(std::string_view text, unsigned owner) {
  if (text.size() < kWindow || owner > 63) throw std::invalid_argument("a keyword has at least 4 bytes");
  x_keywords.push_back(
      {.text = std::string(text), .window = rarest_window(text), .owners = std::uint64_t{1} << owner});
}

void KeywordFilter::prepare() {
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
  std::vector<std::uint32_t> buckets(x_keywords.size());
  x_bits.fill(0);
  x_pairs.assign(std::size_t{1} << 16, 0);
  x_buckets.fill(0);
  for (std::size_t i = 0; i < x_keywords.size(); ++i) {
    const char* window = x_keywords[i].text.data() + x_keywords[i].window;
    x_pairs[two(window)] = 1;
    const std::uint32_t hash = hash_of(four(window));
    x_bits[hash >> 6] |= std::uint64_t{1} << (hash & 63u);
    buckets[i] = hash % kBuckets;
    ++x_buckets[buckets[i] + 1];
  }
  for (std::size_t i = 0; i < kBuckets; ++i) x_buckets[i + 1] += x_buckets[i];
  x_order.resize(x_keywords.size());
  std::vector<std::uint32_t> next(x_buckets.begin(), x_buckets.end() - 1);
  for (std::size_t i = 0; i < x_keywords.size(); ++i) {
    x_order[next[buckets[i]]++] = static_cast<std::uint32_t>(i);
  }
}

std::uint64_t KeywordFilter::found_at(std::string_view line, std::size_t at, std::uint32_t hash,
                                      std::uint64_t known) const {
  std::uint64_t found = 0;
  const std::uint32_t bucket = hash % kBuckets;
  for (std::uint32_t i = x_buckets[bucket]; i != x_buckets[bucket + 1]; ++i) {
    const Keyword& keyword = x_keywords[x_order[i]];
    if ((keyword.owners & ~(known | found)) == 0 || keyword.window > at) continue;
    if (line.substr(at - keyword.window, keyword.text.size()) == keyword.text) found |= keyword.owners;
  }
  return found;
}

std::uint64_t KeywordFilter::owners(std::string_view line) const {
  if (line.size() < kWindow) return 0;
  std::uint64_t found = 0;
  const char* begin = line.data();
  const std::uint8_t* pairs = x_pairs.data();
  const std::size_t places = line.size() - kWindow + 1;
  const auto look_at = [&](std::size_t at) {
    const std::uint32_t hash = hash_of(four(begin + at));
    if (may_begin(hash)) found |= found_at(line, at, hash, found);
  };
  std::size_t at = 0;
  for (; at + 4 <= places; at += 4) {
    const unsigned a = pairs[two(begin + at)], b = pairs[two(begin + at + 1)];
    const unsigned c = pairs[two(begin + at + 2)], d = pairs[two(begin + at + 3)];
    if ((a | b | c | d) == 0) continue;  // not ||: one branch for four places
    if (a != 0) look_at(at);
    if (b != 0) look_at(at + 1);
    if (c != 0) look_at(at + 2);
    if (d != 0) look_at(at + 3);
  }
  for (; at < places; ++at) {
    if (pairs[two(begin + at)] != 0) look_at(at);
  }
  return found;
}

}  // namespace unhang::formats::log
