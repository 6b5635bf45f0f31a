// SPDX-License-Identifier: Apache-2.0
#include "join/host_of_path.h"

namespace unhang::join {
namespace {

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && ((text[at] >= '0' && text[at] <= '9') || (text[at] >= 'a' && text[at] <= 'z') ||
                              (text[at] >= 'A' && text[at] <= 'Z') || text[at] == '_');
}

bool stands_in(std::string_view part, std::string_view name) {
  for (std::size_t at = part.find(name); at != std::string_view::npos; at = part.find(name, at + 1)) {
    if ((at == 0 || !is_word(part, at - 1)) && !is_word(part, at + name.size())) return true;
  }
  return false;
}

// "1", "ab": too short to be found by chance in a path only once.
constexpr std::size_t kShortest = 3;

std::string host_in_part(std::string_view part, const std::set<std::string, std::less<>>& known) {
  std::string best;
  bool tie = false;
  for (const std::string& name : known) {
    if (name.size() < kShortest || name.size() < best.size() || !stands_in(part, name)) continue;
    tie = name.size() == best.size();
    best = name;
  }
  return tie ? std::string() : best;
}

}  // namespace

std::string host_in_path(std::string_view path, const std::set<std::string, std::less<>>& known) {
  while (!path.empty()) {
    const std::size_t slash = path.find_last_of("/!");
    const std::string_view part = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (std::string host = host_in_part(part, known); !host.empty()) return host;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return {};
}

}  // namespace unhang::join
