// SPDX-License-Identifier: Apache-2.0
#include "base/redaction.h"

#include <algorithm>
#include <array>

#include "base/secret_value.h"
#include "base/token_shape.h"

namespace unhang::base {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// One of these stands in every line that redact_line changes, in small letters and with '_' for '-'.
constexpr std::array<std::string_view, 32> kTriggers{
    "token",      "secret",        "passw",   "api_key",     "apikey", "access_key", "private_key",
    "credential", "authorization", "bearer ", "hf_",         "sk_",    "ghp_",       "gho_",
    "ghu_",       "ghs_",          "ghr_",    "github_pat_", "akia",   "asia",       "xox",
    "eyj",        "://",           "prompt",  "messages",    "text",   "input_ids",  "token_ids",
    "@",          "curl",          "login",   "sshpass"};

constexpr std::array<bool, 256> first_bytes() {
  std::array<bool, 256> known{};
  for (const std::string_view trigger : kTriggers) known[static_cast<unsigned char>(trigger.front())] = true;
  return known;
}

char plain(char c) {
  return c == '-' ? '_' : lower(c);
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
  static constexpr std::array<bool, 256> kFirst = first_bytes();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!kFirst[static_cast<unsigned char>(lower(line[i]))]) continue;
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
