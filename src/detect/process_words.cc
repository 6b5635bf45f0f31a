// SPDX-License-Identifier: Apache-2.0
#include "detect/process_words.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "detect/process_looks.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

constexpr std::size_t kMostKinds = 3;

std::string words_of(const ProcessLook& look) {
  switch (look.stand) {
    case Stand::kStopped:
      return "stopped by a signal";
    case Stand::kTraced:
      return "held by a debugger";
    case Stand::kDead:
      return "dead";
    default:
      return model::words_of(look.activity);
  }
}

}  // namespace

std::string processes_words(const model::Case& joined) {
  const std::vector<ProcessLook> looks = latest_looks(joined);
  if (looks.empty()) {
    std::set<std::pair<std::string, std::int64_t>> seen;
    for (const model::ProcessReading& reading : joined.processes)
      seen.emplace(reading.sample.host, reading.sample.pid);
    return std::to_string(seen.size()) + plural(seen.size(), " process was", " processes were") +
           " looked at, none of which is a rank";
  }
  if (looks.size() == 1) return stand_text(looks.front());
  std::vector<std::pair<std::string, std::size_t>> kinds;  // in the order of the Case
  for (const ProcessLook& look : looks) {
    const std::string words = words_of(look);
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == words; });
    if (known == kinds.end()) {
      kinds.emplace_back(words, 1);
    } else {
      ++known->second;
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (kinds.size() == 1)
    return "all " + std::to_string(looks.size()) + " processes are " + kinds.front().first;
  std::string out = "of " + std::to_string(looks.size()) + " processes ";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < kinds.size() && i < kMostKinds; ++i) {
    const auto& [words, count] = kinds[i];
    out += (i == 0 ? "" : ", ") + std::to_string(count) + plural(count, " is ", " are ") + words;
    shown += count;
  }
  if (shown < looks.size()) out += ", " + std::to_string(looks.size() - shown) + " do other things";
  return out;
}

}  // namespace unhang::detect
