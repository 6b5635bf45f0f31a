// SPDX-License-Identifier: Apache-2.0
//
// What the engines call their counters, release by release: the one table of names.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/engine_sample.h"

namespace unhang::formats::engine_metrics {

enum class Field : std::uint8_t {
  kRunning,
  kWaiting,
  kKvUsage,
  kPromptTokens,
  kGenerationTokens,
  kSteps,
  kFinishedRequests,
  kTokenEvents,
  kProcessStart,
};
inline constexpr std::size_t kSeriesFields = 8;  // all but kProcessStart

struct KnownName {
  std::string_view name;  // with "_" for ":", without a "_total" at the end
  model::EngineKind engine = model::EngineKind::kUnknown;
  Field field = Field::kRunning;
  // Several names for one field: the lowest preference that a replica has is taken. Token events are added
  // up.
  std::uint8_t preference = 0;
  // Only values with this label count; empty: all.
  std::string_view label = {};
  std::string_view label_value = {};
};

// All meanings of a name as it stands on a page ("vllm:generation_tokens_total"): ":" and "_", a missing or
// present "_total" and Ray's prefix "ray_" make no difference. An empty range when it is not known.
struct NameRange {
  const KnownName* first = nullptr;
  const KnownName* last = nullptr;
  bool empty() const { return first == last; }
  const KnownName* begin() const { return first; }
  const KnownName* end() const { return last; }
};
NameRange known_names(std::string_view name);

// How a label of a value is used.
enum class LabelRole : std::uint8_t {
  kReplica,  // tells replicas apart
  kRank,     // ranks of one replica show the same thing: the largest counts
  kPart,     // parts of one number: added up
};
LabelRole role_of_label(std::string_view name);

}  // namespace unhang::formats::engine_metrics
