// SPDX-License-Identifier: Apache-2.0
#include "formats/log/fields.h"

#include <limits>

#include "base/rank_set.h"
#include "formats/log/facts.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kDigits = 18;         // always fits in 64 bits
constexpr std::size_t kListed = 1u << 16;   // ranks of one list
constexpr std::int64_t kRanks = 1LL << 24;  // more than any job has

std::string kept(std::string_view text) {
  return text.empty() ? std::string() : shown(text);
}

}  // namespace

std::optional<Number> number_at(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t");
  if (at == text.npos) return std::nullopt;
  const bool negative = text[at] == '-';
  if (negative) ++at;
  const std::size_t from = at;
  std::int64_t value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (at - from >= kDigits) return std::nullopt;
    value = value * 10 + (text[at] - '0');
  }
  if (at == from) return std::nullopt;
  return Number{negative ? -value : value, text.substr(at)};
}

std::int64_t number_after(std::string_view text, std::string_view mark, std::int64_t otherwise) {
  const auto rest = behind(text, mark);
  if (!rest) return otherwise;
  const auto number = number_at(*rest);
  return number ? number->value : otherwise;
}

std::int32_t rank_after(std::string_view text, std::string_view mark) {
  const std::int64_t value = number_after(text, mark);
  return value >= 0 && value < kRanks ? static_cast<std::int32_t>(value) : -1;
}

std::string folded_ranks(std::string_view text) {
  std::vector<std::int32_t> ranks;
  for (;;) {
    const std::size_t from = text.find_first_not_of(" \t[,");
    if (from == text.npos || !is_digit(text[from])) break;
    const auto number = number_at(text.substr(from));
    if (!number || number->value >= kRanks || ranks.size() >= kListed) break;
    ranks.push_back(static_cast<std::int32_t>(number->value));
    text = number->rest;
  }
  return base::fold_ranks(ranks);
}

std::span<const OwnedKeyword> request_keywords() {
  static constexpr OwnedKeyword kKeywords[] = {{"prompt: '", kQuotedRequest},
                                               {"prompt: \"", kQuotedRequest},
                                               {"ReqInput(", kQuotedRequest},
                                               {"prompt_token_ids: [", kQuotedRequest},
                                               {"Received request ", kQuotedRequest}};
  return kKeywords;
}

bool quotes_request(const Line& line) {
  if (!line.may_hold(kQuotedRequest)) return false;
  for (const OwnedKeyword& keyword : request_keywords()) {
    if (has(line.message, keyword.text)) return true;
  }
  return false;
}

model::LogEvent event_of(model::LogEventKind kind, std::int64_t code, std::int32_t rank,
                         std::string_view detail, std::string_view subject, std::string_view peer) {
  model::LogEvent event;
  event.kind = kind;
  event.code = code;
  event.rank = rank;
  event.detail = kept(detail);
  event.subject = kept(subject);
  event.peer = kept(peer);
  return event;
}

}  // namespace unhang::formats::log
