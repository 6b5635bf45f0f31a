// SPDX-License-Identifier: Apache-2.0
#include "model/check_result.h"

#include <algorithm>

namespace unhang::model {

std::string_view name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPass:
      return "pass";
    case CheckStatus::kUnknown:
      return "unknown";
    case CheckStatus::kWarn:
      return "warn";
    case CheckStatus::kFail:
      return "fail";
  }
  return "";
}

std::size_t CheckReport::count(CheckStatus status) const {
  return static_cast<std::size_t>(std::count_if(
      results.begin(), results.end(), [&](const CheckResult& result) { return result.status == status; }));
}

CheckStatus CheckReport::worst() const {
  CheckStatus worst = CheckStatus::kPass;
  for (const CheckResult& result : results) worst = std::max(worst, result.status);
  return worst;
}

}  // namespace unhang::model
