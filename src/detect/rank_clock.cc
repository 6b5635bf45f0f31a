// SPDX-License-Identifier: Apache-2.0
#include "detect/rank_clock.h"

#include <map>
#include <string_view>

namespace unhang::detect {

RankClock::RankClock(const model::Case& joined) : x_offsets(joined.ranks.size(), 0) {
  std::map<std::string_view, std::int64_t> offsets;
  for (const model::HostClock& clock : joined.clocks) {
    if (clock.known) offsets.emplace(clock.host, clock.offset_ns);
  }
  if (offsets.empty()) return;
  for (std::size_t i = 0; i < joined.ranks.size(); ++i) {
    const auto at = offsets.find(joined.ranks[i].host);
    if (at != offsets.end()) x_offsets[i] = at->second;
  }
}

}  // namespace unhang::detect
