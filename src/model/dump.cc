// SPDX-License-Identifier: Apache-2.0
#include "model/dump.h"

#include <charconv>

namespace unhang::model {

std::optional<std::vector<std::int32_t>> parse_rank_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int32_t> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    while (at != end && (*at == ' ' || *at == ',')) ++at;
    if (at == end) break;
    std::int32_t rank = -1;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc{} || rank < 0) return std::nullopt;
    ranks.push_back(rank);
    at = next;
  }
  return ranks;
}

}  // namespace unhang::model
