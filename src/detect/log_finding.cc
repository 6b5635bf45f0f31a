// SPDX-License-Identifier: Apache-2.0
#include "detect/log_finding.h"

#include <utility>

namespace unhang::detect {

Explanation log_finding(const LogAnalysis& logs, model::Category category, std::string_view cause,
                        model::Confidence strength, std::string headline, const EventRefs& events) {
  Explanation out;
  out.category = category;
  out.cause = cause;
  out.strength = strength;
  out.headline = std::move(headline);
  out.phase = category == model::Category::kInitializationHang ? model::Phase::kInit : phase_of(logs);
  out.state =
      category == model::Category::kProcessOrDeviceUnavailable ? model::State::kDead : model::State::kStopped;
  cite_all(logs, events, out);
  return out;
}

model::Category init_or_transport(const LogAnalysis& logs) {
  return logs.past_init ? model::Category::kTransportStall : model::Category::kInitializationHang;
}

}  // namespace unhang::detect
