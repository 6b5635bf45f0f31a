// SPDX-License-Identifier: Apache-2.0
#include "model/cause.h"

namespace unhang::model {

std::span<const CauseInfo> cause_catalogue() { return {}; }

const CauseInfo* find_cause(std::string_view code) {
  for (const CauseInfo& info : cause_catalogue()) {
    if (info.code == code) return &info;
  }
  return nullptr;
}

}  // namespace unhang::model
