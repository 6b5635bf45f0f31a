// SPDX-License-Identifier: Apache-2.0
#include "model/bundle.h"

#include <array>

namespace unhang::model {
namespace {

constexpr std::array<std::string_view, 6> kNames{"answered", "partial", "silent",
                                                 "refused",  "missing", "failed"};

}  // namespace

std::string_view name_of(SourceStatus value) {
  return kNames.at(static_cast<std::size_t>(value));
}

std::optional<SourceStatus> parse_source_status(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return static_cast<SourceStatus>(i);
  }
  return std::nullopt;
}

bool lacks_something(const BundleSource& source) {
  return source.status != SourceStatus::kAnswered;
}

}  // namespace unhang::model
