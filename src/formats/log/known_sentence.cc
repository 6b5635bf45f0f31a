// SPDX-License-Identifier: Apache-2.0
#include "formats/log/known_sentence.h"

#include <array>

#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

// Which pairs of neighbouring bytes a message has: tables are long, and most sentences can be ruled out by
// three pairs without a search.
class BytePairs {
 public:
  explicit BytePairs(std::string_view text) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const unsigned slot = slot_of(text[i], text[i + 1]);
      x_bits[slot >> 6] |= 1ull << (slot & 63u);
    }
  }
  bool may_hold(std::string_view words) const {
    if (words.size() < 2) return true;
    const std::size_t last = words.size() - 2;
    return has_pair(words, 0) && has_pair(words, last / 2) && has_pair(words, last);
  }

 private:
  static unsigned slot_of(char a, char b) {
    return ((static_cast<unsigned char>(a) & 63u) << 6) | (static_cast<unsigned char>(b) & 63u);
  }
  bool has_pair(std::string_view words, std::size_t at) const {
    const unsigned slot = slot_of(words[at], words[at + 1]);
    return (x_bits[slot >> 6] >> (slot & 63u) & 1u) != 0;
  }
  std::array<std::uint64_t, 64> x_bits{};
};

}  // namespace

const KnownSentence* known_sentence(std::span<const KnownSentence> table, std::string_view message) {
  const BytePairs pairs(message);
  for (const KnownSentence& sentence : table) {
    if (pairs.may_hold(sentence.words) && has(message, sentence.words) &&
        (sentence.also.empty() || has(message, sentence.also)))
      return &sentence;
  }
  return nullptr;
}

bool take_known_sentence(std::span<const KnownSentence> table, const Line& line, Facts& facts) {
  const KnownSentence* sentence = known_sentence(table, line.message);
  if (sentence == nullptr) return false;
  if (sentence->kind != model::LogEventKind::kCount)
    facts.add(event_of(sentence->kind, sentence->code), line);
  return true;
}

std::vector<std::string_view> words_of_all(std::span<const KnownSentence> table,
                                           std::span<const std::string_view> others) {
  std::vector<std::string_view> words(others.begin(), others.end());
  for (const KnownSentence& sentence : table) words.push_back(sentence.words);
  return words;
}

}  // namespace unhang::formats::log
