// SPDX-License-Identifier: Apache-2.0
#include "join/dump_name.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace unhang::join {
namespace {

constexpr std::array<std::string_view, 10> kSuffixes{".json", ".pickle", ".pkl", ".gz",   ".zst",
                                                     ".bin",  ".pt",     ".txt", ".dump", ".trace"};

// Words that recorders and people put into dump names; what remains between them is a host.
constexpr std::array<std::string_view, 25> kNotHosts{
    "nccl",   "nccl2",    "trace",  "rank",    "comm",           "lib",   "dump", "dumps", "fr",
    "flight", "recorder", "torch",  "debug",   "info",           "gloo",  "rccl", "xccl",  "hccl",
    "worker", "pg",       "global", "entries", "flightrecorder", "ncclx", "mccl"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string_view without_suffixes(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view suffix : kSuffixes) {
      if (name.size() > suffix.size() && name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        again = true;
      }
    }
  }
  return name;
}

std::string host_in(std::string_view text) {
  std::string host;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('_'), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool ordinary =
        word.empty() || std::find(kNotHosts.begin(), kNotHosts.end(), lower(word)) != kNotHosts.end();
    const bool number = std::all_of(word.begin(), word.end(), is_digit);
    if (ordinary || number) continue;
    if (!host.empty()) host += '_';
    host += word;
  }
  return host;
}

}  // namespace

DumpName read_dump_name(std::string_view path) {
  DumpName out;
  const std::size_t slash = path.find_last_of("/!");
  std::string_view name = without_suffixes(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  if (digits > 0 && digits <= 9) {
    std::int32_t rank = 0;
    std::from_chars(name.data() + name.size() - digits, name.data() + name.size(), rank);
    out.rank = rank;
    name.remove_suffix(digits);
  }
  while (!name.empty() && (name.back() == '-' || name.back() == '.' || name.back() == '_'))
    name.remove_suffix(1);
  if (name.ends_with("-rank") || name.ends_with(".rank")) name.remove_suffix(5);
  out.host = host_in(name);
  return out;
}

}  // namespace unhang::join
