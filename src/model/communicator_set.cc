// SPDX-License-Identifier: Apache-2.0
#include "model/communicator_set.h"

namespace unhang::model {
namespace {

constexpr std::size_t kShownRanges = 8;

}  // namespace

std::vector<std::int32_t> missing_ranks(const CommunicatorSet& set, std::size_t limit) {
  std::vector<std::int32_t> out;
  for (const auto& [from, to] : set.missing) {
    for (std::int64_t rank = from; rank <= to; ++rank) {
      if (out.size() >= limit) return out;
      out.push_back(static_cast<std::int32_t>(rank));
    }
  }
  return out;
}

std::string missing_text(const CommunicatorSet& set) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [from, to] : set.missing) {
    if (!text.empty()) text += ",";
    if (shown++ == kShownRanges) return text + "…";
    text += std::to_string(from);
    if (to > from) text += "-" + std::to_string(to);
  }
  return text;
}

}  // namespace unhang::model
