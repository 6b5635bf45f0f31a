// SPDX-License-Identifier: Apache-2.0
#include "base/secret_value.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/secret_argument.h"

namespace unhang::base {
namespace {

constexpr std::string_view kRemoved = "(removed)";
constexpr std::size_t kMarkBytes = 32;  // "<|endoftext|>" and the like
constexpr std::size_t kFlagBytes = 48;  // longer flags are none

enum class Secret { kNone, kValue, kToken, kAuthorization, kAddress, kPrompt, kText };

char plain(char c) {
  return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_quote(char c) {
  return c == '"' || c == '\'';
}

bool ends(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.rbegin(), word.rend(), text.rbegin(), [](char w, char t) { return w == plain(t); });
}

// The word, and no other word that ends in it ("context" is not "text").
bool ends_in_word(std::string_view text, std::string_view word) {
  if (!ends(text, word)) return false;
  text.remove_suffix(word.size());
  return text.empty() || !is_name(text.back()) || text.back() == '_' || text.back() == '-';
}

// What the name at the end of `text` promises. Looks at a bounded number of bytes.
Secret kind_of(std::string_view text) {
  if (text.empty()) return Secret::kNone;
  switch (plain(text.back())) {
    case 'n':
      if (ends(text, "token")) return Secret::kToken;
      return ends_in_word(text, "authorization") ? Secret::kAuthorization : Secret::kNone;
    case 't':
      if (ends_in_word(text, "prompt")) return Secret::kPrompt;
      if (ends_in_word(text, "text")) return Secret::kText;
      if (ends_in_word(text, "endpoint") || ends_in_word(text, "host")) return Secret::kAddress;
      return ends(text, "secret") ? Secret::kValue : Secret::kNone;
    case 'r':
      return ends_in_word(text, "addr") ? Secret::kAddress : Secret::kNone;
    case 'i':
      return ends_in_word(text, "uri") ? Secret::kAddress : Secret::kNone;
    case 'd':
      return ends(text, "password") || ends(text, "passwd") ? Secret::kValue : Secret::kNone;
    case 'y':
      if (ends_in_word(text, "proxy")) return Secret::kAddress;
      return ends(text, "api_key") || ends(text, "apikey") || ends(text, "access_key") ||
                     ends(text, "secret_key") || ends(text, "private_key")
                 ? Secret::kValue
                 : Secret::kNone;
    case 'l':
      if (ends_in_word(text, "url")) return Secret::kAddress;
      return ends(text, "credential") ? Secret::kValue : Secret::kNone;
    case 's':
      if (ends(text, "credentials")) return Secret::kValue;
      if (ends_in_word(text, "address")) return Secret::kAddress;
      return ends_in_word(text, "prompts") || ends_in_word(text, "messages") ||
                     ends_in_word(text, "token_ids") || ends_in_word(text, "input_ids")
                 ? Secret::kPrompt
                 : Secret::kNone;
    default:
      return Secret::kNone;
  }
}

// Values that tell nothing.
bool tells_nothing(std::string_view value, Secret kind) {
  constexpr std::array<std::string_view, 12> kWords{"None",  "null", "nil",   "True", "true", "False",
                                                    "false", "str",  "bytes", "int",  "bool", "Optional[str"};
  if (value.empty() || std::find(kWords.begin(), kWords.end(), value) != kWords.end()) return true;
  if (value.find_first_not_of('*') == std::string_view::npos) return true;
  if (value.size() <= kMarkBytes && value.front() == '<' && value.back() == '>') return true;
  return kind == Secret::kToken && value.find_first_not_of("0123456789.%") == std::string_view::npos;
}

// "(removed, 12 characters)".
bool is_removed_prompt(std::string_view text) {
  constexpr std::string_view kBegin = "(removed, ", kEnd = " characters)";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() <= kBegin.size() + kEnd.size())
    return false;
  text.remove_prefix(kBegin.size());
  text.remove_suffix(kEnd.size());
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string removed_prompt(std::string_view text) {
  const auto characters = std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
  return fmt::format("(removed, {} characters)", characters);
}

// Where the quotation ends whose first byte is line[from] and whose quote has `depth` backslashes in front
// (JSON inside of JSON): the place of the closing quote's first backslash, or the end of the line.
std::size_t quotation_end(std::string_view line, std::size_t from, char quote, std::size_t depth) {
  std::size_t slashes = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++slashes;
      continue;
    }
    if (line[i] == quote && (depth == 0 ? slashes % 2 == 0 : slashes <= depth))
      return depth == 0 ? i : i - slashes;
    slashes = 0;
  }
  return line.size();
}

// Behind the bracket that closes the one at line[from], or the end of the line. Brackets in quotes are text.
std::size_t brackets_end(std::string_view line, std::size_t from) {
  std::size_t depth = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && --depth == 0) return i + 1;
    if (is_quote(c)) {
      const std::size_t end = quotation_end(line, i + 1, c, i > from && line[i - 1] == '\\' ? 1 : 0);
      i = end;
      while (i < line.size() && line[i] != c) ++i;
    }
  }
  return line.size();
}

struct Value {
  std::size_t from = 0;               // first byte of the value or of its quotes
  bool to_the_end = false;            // all of the line: what NCCL prints of a variable
  std::string_view name_quotes = {};  // what stands on both sides of the name: "\"", "\\\"", ""
};

Removal remove_prompt(std::string_view line, const Value& value, std::size_t depth, Secret kind) {
  const std::size_t at = value.from + depth;
  const char c = line[at];
  std::size_t end = 0;
  std::string_view text;
  if (is_quote(c)) {
    const std::size_t close = quotation_end(line, at + 1, c, depth);
    text = line.substr(at + 1, close - at - 1);
    end = close;
    while (end < line.size() && line[end] == '\\') ++end;
    end = std::min(end + 1, line.size());
    if (text.empty() || is_removed_prompt(text)) return {};
  } else if (c == '[' && (kind == Secret::kPrompt || (at + 1 < line.size() && is_quote(line[at + 1])))) {
    end = brackets_end(line, at);
    text = line.substr(at, end - at);
    if (text == "[]") return {};
  } else {
    return {};
  }
  return {value.from, end, fmt::format("{}{}{}", value.name_quotes, removed_prompt(text), value.name_quotes)};
}

Removal remove_value(std::string_view line, Value value, std::size_t depth, Secret kind) {
  const std::size_t at = value.from + depth;
  const char c = line[at];
  if (is_quote(c) && !value.to_the_end) {
    const std::size_t close = quotation_end(line, at + 1, c, depth);
    const std::string_view text = line.substr(at + 1, close - at - 1);
    if (tells_nothing(text, kind) || text == kRemoved) return {};
    return {at + 1, close, std::string(kRemoved)};
  }
  if ((c == '[' || c == '{') && !value.to_the_end) {
    std::size_t end = brackets_end(line, value.from);
    if (end - value.from == 2) return {};
    if (value.name_quotes.empty()) end = bare_value_end(line, end);  // "[a]b" is one value
    return {value.from, end, fmt::format("{}{}{}", value.name_quotes, kRemoved, value.name_quotes)};
  }
  std::size_t end = line.size();
  if (value.to_the_end) {
    while (end > value.from && (is_blank(line[end - 1]) || line[end - 1] == '.')) --end;
  } else {
    end = bare_value_end(line, value.from);
  }
  const std::string_view text = line.substr(value.from, end - value.from);
  if (tells_nothing(text, kind) || text == kRemoved) return {};
  return {value.from, end, std::string(kRemoved)};
}

// Whether the word at line[from] reads like one: "token expired", "basic authentication required".
bool is_prose(std::string_view line, std::size_t from) {
  constexpr std::size_t kLongestWord = 15;
  std::string_view word = line.substr(from, line.find_first_of(" \t\"'", from) - from);
  while (!word.empty() && std::string_view(".,;:!)").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  const bool digits = word.find_first_not_of("0123456789") == std::string_view::npos;
  const bool letters = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return digits || (letters && word.size() <= kLongestWord);
}

// Behind the scheme of an authorization and the blanks that follow it; `from` where there is none. As RFC
// 9110 writes them every scheme is one; in other letters it may be a word of a sentence.
std::size_t behind_scheme(std::string_view line, std::size_t from) {
  for (const std::string_view scheme : {"Basic", "Bearer", "Digest", "Token", "ApiKey", "Negotiate"}) {
    const std::string_view word = line.substr(from, scheme.size());
    std::size_t end = from + scheme.size();
    if (word.size() < scheme.size() || end >= line.size() || !is_blank(line[end])) continue;
    if (!std::equal(word.begin(), word.end(), scheme.begin(),
                    [](char a, char b) { return plain(a) == plain(b); }))
      continue;
    while (end < line.size() && is_blank(line[end])) ++end;
    return word == scheme || !is_prose(line, end) ? end : from;
  }
  return from;
}

// "user:password@host" without a scheme in front.
Removal remove_password(std::string_view line, const Value& value) {
  std::size_t from = value.from;
  if (from < line.size() && is_quote(line[from])) ++from;
  const Removal removal = password_at(line, from);
  return removal.end > value.from ? removal : Removal{};
}

Removal remove(std::string_view line, Value value, Secret kind) {
  if (kind == Secret::kAddress) return remove_password(line, value);
  if (kind == Secret::kAuthorization) {
    const std::size_t from = value.from;
    value.from = behind_scheme(line, from);
    // Inside of quotes the scheme is text of the value: all of it goes. Other words are no header's.
    if (value.from == from && from < line.size() && !is_quote(line[from]) && line[from] != '\\') return {};
  }
  std::size_t depth = 0;
  while (value.from + depth < line.size() && line[value.from + depth] == '\\') ++depth;
  if (value.from + depth >= line.size()) return {};
  if (depth > 0 && !is_quote(line[value.from + depth])) depth = 0;
  if (kind == Secret::kPrompt || kind == Secret::kText) return remove_prompt(line, value, depth, kind);
  return remove_value(line, value, depth, kind);
}

// The name in front of line[at]: its quotes, and what kind of secret it announces.
Secret name_before(std::string_view line, std::size_t at, std::string_view& quotes) {
  std::string_view before = line.substr(0, at);
  if (before.ends_with(' ')) before.remove_suffix(1);
  if (!before.empty() && is_quote(before.back())) {
    std::size_t from = before.size() - 1;
    while (from > 0 && before.size() - from < 8 && before[from - 1] == '\\') --from;
    quotes = before.substr(from);
    before = before.substr(0, from);
  }
  return kind_of(before);
}

// Whether the name that ends at `end` begins with "--".
bool is_flag(std::string_view line, std::size_t end) {
  std::size_t from = end;
  while (from > 0 && end - from < kFlagBytes && is_name(line[from - 1])) --from;
  return line.substr(from, end - from).starts_with("--");
}

bool is_credential(Secret kind) {
  return kind == Secret::kValue || kind == Secret::kToken;
}

Removal behind_separator(std::string_view line, std::size_t at) {
  const char separator = line[at];
  if (separator == ':' && line.substr(at + 1).starts_with(':')) return {};
  if (separator == '=' && line.substr(at + 1).starts_with("= ")) return {};
  Value value;
  const Secret kind = name_before(line, at, value.name_quotes);
  if (kind == Secret::kNone) return {};
  value.from = at + 1;
  while (value.from < line.size() && is_blank(line[value.from])) ++value.from;
  // "text" in quotes is a field of structured logs: the line itself.
  if (kind == Secret::kText && !value.name_quotes.empty()) return {};
  return remove(line, value, kind);
}

Removal behind_blank(std::string_view line, std::size_t at) {
  for (const std::string_view words : {" set by environment to ", " set to "}) {
    if (!line.substr(at).starts_with(words)) continue;
    const Secret kind = kind_of(line.substr(0, at));
    if (kind == Secret::kAddress) return remove_password(line, {.from = at + words.size()});
    if (!is_credential(kind)) return {};
    return remove(line, {.from = at + words.size(), .to_the_end = true}, Secret::kValue);
  }
  const Secret kind = kind_of(line.substr(0, at));
  if (!is_credential(kind) || !is_flag(line, at)) return {};
  std::size_t from = at + 1;
  while (from < line.size() && is_blank(line[from])) ++from;
  if (line.substr(from).starts_with("--")) return {};
  return remove(line, {.from = from}, Secret::kValue);
}

// A flag and its value in a list of arguments, or a header as a pair: '--api-key', 'abc'.
Removal behind_comma(std::string_view line, std::size_t at) {
  if (at == 0 || !is_quote(line[at - 1])) return {};
  const Secret kind = kind_of(line.substr(0, at - 1));
  const bool is_header = kind == Secret::kAuthorization;
  if (!is_header && (!is_credential(kind) || !is_flag(line, at - 1))) return {};
  std::size_t from = at + 1;
  while (from < line.size() && is_blank(line[from])) ++from;
  if (from >= line.size() || !is_quote(line[from])) return {};
  if (is_header && behind_scheme(line, from + 1) == from + 1) return {};
  return remove(line, {.from = from}, Secret::kValue);
}

}  // namespace

std::size_t bare_value_end(std::string_view line, std::size_t from) {
  constexpr std::string_view kBehindQuote = ",;])} \t:";
  std::size_t end = from;
  for (; end < line.size() && !is_blank(line[end]); ++end) {
    const bool last = end + 1 == line.size() || kBehindQuote.find(line[end + 1]) != std::string_view::npos;
    if (is_quote(line[end]) && last) break;
  }
  if (line.substr(from, end - from).starts_with(kRemoved)) {
    const std::size_t behind = from + kRemoved.size();
    if (behind < end && line[behind] == '@') return behind;  // a password in an address
    if (line.substr(behind, end - behind).find_first_not_of(",;)]}.") == std::string_view::npos)
      return behind;
  }
  while (end > from && std::string_view(",;)]}.").find(line[end - 1]) != std::string_view::npos) --end;
  return end;
}

Removal secret_value_at(std::string_view line, std::size_t at) {
  Removal removal;
  switch (line[at]) {
    case ':':
      return behind_separator(line, at);
    case '=':
      removal = behind_separator(line, at);
      break;
    case ' ':
    case '\t':
      removal = behind_blank(line, at);
      break;
    case ',':
      removal = behind_comma(line, at);
      break;
    default:
      return {};
  }
  return removal.end > at ? removal : secret_argument_at(line, at);
}

}  // namespace unhang::base
