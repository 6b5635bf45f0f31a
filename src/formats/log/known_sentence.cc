// SPDX-License-Identifier: Apache-2.0
#include "formats/log/known_sentence.h"

#include "formats/log/fields.h"

namespace unhang::formats::log {

const KnownSentence* known_sentence(std::span<const KnownSentence> table, std::string_view message) {
  for (const KnownSentence& sentence : table) {
    if (has(message, sentence.words) && (sentence.also.empty() || has(message, sentence.also)))
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
