// SPDX-License-Identifier: Apache-2.0
#include "formats/log/glued_records.h"

#include <algorithm>

#include "formats/log/prefix.h"

namespace unhang::formats::log {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kPrefixBytes = 400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool of_host(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
}

// Where "host:pid:tid [dev] …NCCL" begins when the word NCCL stands at `word`; kNone: no such prefix there.
std::size_t begin_of_nccl(std::string_view line, std::size_t from, std::size_t word, std::string_view host) {
  const std::size_t nearest = std::max(from, word > kPrefixBytes ? word - kPrefixBytes : 0);
  // ":123:456 " from right to left: the thread, the pid, and in front of them the host.
  for (std::size_t blank = word; blank-- > nearest;) {
    if (line[blank] != ' ') continue;
    std::size_t at = blank;
    const auto digits = [&] {
      const std::size_t end = at;
      while (at > nearest && is_digit(line[at - 1])) --at;
      return at != end && at > nearest && line[at - 1] == ':';
    };
    if (!digits()) continue;
    --at;
    if (!digits()) continue;
    std::size_t begin = --at;
    while (begin > nearest && of_host(line[begin - 1])) --begin;
    if (!host.empty() && at - begin >= host.size() && line.substr(at - host.size(), host.size()) == host) {
      begin = at - host.size();
    }
    Prefix prefix;
    if (begin != at && read_nccl_prefix(line.substr(begin), prefix) != 0) return begin;
  }
  return kNone;
}

std::size_t nccl_record(std::string_view line, std::size_t from, std::string_view host) {
  constexpr std::string_view kWord = "NCCL ";
  for (std::size_t word = line.find(kWord, from); word != kNone; word = line.find(kWord, word + 1)) {
    const std::string_view level = line.substr(word + kWord.size(), 4);
    if (level != "INFO" && level != "WARN") continue;
    if (const std::size_t begin = begin_of_nccl(line, from, word, host); begin != kNone) return begin;
  }
  return kNone;
}

std::size_t torch_record(std::string_view line, std::size_t from) {
  for (std::size_t at = line.find("[rank", from); at != kNone; at = line.find("[rank", at + 1)) {
    std::size_t end = at + 5;
    while (end < line.size() && is_digit(line[end])) ++end;
    const std::string_view behind = line.substr(end, 4);
    if (end != at + 5 && behind.size() == 4 && behind.starts_with("]:[") &&
        std::string_view("IWEF").find(behind[3]) != kNone) {
      return at;
    }
  }
  return kNone;
}

}  // namespace

std::size_t next_record(std::string_view line, std::size_t from, std::string_view host) {
  const std::size_t nccl = nccl_record(line, from, host);
  // Only up to the other: a line of many records is gone through once.
  return std::min(nccl, torch_record(line.substr(0, nccl), from));
}

}  // namespace unhang::formats::log
