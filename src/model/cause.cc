// SPDX-License-Identifier: Apache-2.0
#include "model/cause.h"

#include <algorithm>
#include <vector>

#include "model/causes/causes.h"

namespace unhang::model {

std::span<const CauseInfo> cause_catalogue() {
  // Entries stand in one file for each category; here they become one list, in the order of the docs.
  static const std::vector<CauseInfo> all = [] {
    std::vector<CauseInfo> list;
    for (const std::span<const CauseInfo> part :
         {causes::initialization(), causes::desync(), causes::transport(), causes::performance(),
          causes::unavailable(), causes::elsewhere()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const CauseInfo* find_cause(std::string_view code) {
  const std::span<const CauseInfo> all = cause_catalogue();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const CauseInfo& info) { return info.code == code; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace unhang::model
