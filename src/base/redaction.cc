// SPDX-License-Identifier: Apache-2.0
#include "base/redaction.h"

#include <algorithm>
#include <array>

#include "base/secret_value.h"
#include "base/token_shape.h"

namespace unhang::base {
namespace {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// One of these stands in every line that redact_line changes, in small letters
// and with '_' for '-'.
constexpr std::array<std::string_view, 32> kTriggers{
    "token",      "secret",        "passw",   "api_key",     "apikey", "access_key", "private_key",
    "credential", "authorization", "bearer ", "hf_",         "sk_",    "ghp_",       "gho_",
    "ghu_",       "ghs_",          "ghr_",    "github_pat_", "akia",   "asia",       "xox",
    "eyj",        "://",           "prompt",  "messages",    "text",   "input_ids",  "token_ids",
    "@",          "curl",          "login",   "sshpass"};

constexpr char plain(char c) {
  return c == '-' ? '_' : lower(c);
}

// By the low bits of two neighbouring bytes: whether a trigger may begin there.
// Every text that is kept is looked at, and nearly all of its places are passed
// over by this alone.
constexpr unsigned pair_of(char a, char b) {
  return (static_cast<unsigned char>(plain(a)) & 63u) << 6 | (static_cast<unsigned char>(plain(b)) & 63u);
}

constexpr std::array<bool, 4096> first_pairs() {
  std::array<bool, 4096> known{};
  for (const std::string_view trigger : kTriggers) {
    const unsigned first = pair_of(trigger.front(), '\0');
    for (unsigned second = 0; second < 64; ++second) {
      if (trigger.size() == 1 || pair_of(trigger[0], trigger[1]) == first + second)
        known[first + second] = true;
    }
  }
  return known;
}

bool begins(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char w, char t) { return w == plain(t); });
}

}  // namespace

bool sounds_secret(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords{"token",  "secret",     "passw",       "api_key",
                                                   "apikey", "access_key", "private_key", "credential"};
  for (std::size_t i = 0; i < name.size(); ++i) {
    for (const std::string_view word : kWords) {
      if (begins(name.substr(i), word)) return true;
    }
  }
  return false;
}

bool may_hold_secret(std::string_view line) {
  static constexpr std::array<bool, 4096> kFirst = first_pairs();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!kFirst[pair_of(line[i], i + 1 < line.size() ? line[i + 1] : '\0')]) continue;
    for (const std::string_view trigger : kTriggers) {
      if (begins(line.substr(i), trigger)) return true;
    }
  }
  return false;
}

std::string redact_line(std::string_view line) {
  if (!may_hold_secret(line)) return std::string(line);
  std::string out;
  out.reserve(line.size());
  std::size_t kept = 0;  // where what is not yet copied begins
  for (std::size_t at = 0; at < line.size();) {
    Removal removal = secret_value_at(line, at);
    if (removal.end <= at) removal = token_at(line, at);
    if (removal.end <= at) {
      ++at;
      continue;
    }
    // The user of an address whose password goes can be a token.
    for (const std::string_view head = line.substr(0, removal.begin); at < head.size(); ++at) {
      const Removal token = token_at(head, at);
      if (token.end <= at) continue;
      out.append(line.substr(kept, token.begin - kept)).append(token.text);
      kept = token.end;
      at = token.end - 1;
    }
    out.append(line.substr(kept, removal.begin - kept)).append(removal.text);
    at = kept = removal.end;
  }
  out += line.substr(kept);
  return out;
}

}  // namespace unhang::base
