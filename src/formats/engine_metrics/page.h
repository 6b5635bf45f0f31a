// SPDX-License-Identifier: Apache-2.0
//
// Puts the values of one page together: each replica one series, whatever labels its values carry beside.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/engine_metrics/exposition.h"
#include "formats/engine_metrics/names.h"
#include "model/engine_sample.h"

namespace unhang::formats::engine_metrics {

class Page {
 public:
  // One value under one of the meanings of its name.
  void add(const KnownName& known, const Exposed& exposed, std::uint64_t line);

  // The page as a sample. Series of an engine behind Dynamo's or Triton's own page are preferred to theirs.
  model::EngineSample finish() const;

  std::uint64_t values() const { return x_values; }
  std::uint64_t dropped_series() const { return x_dropped_series; }

 private:
  using Identity = std::vector<std::pair<std::string, std::string>>;  // replica labels, sorted
  struct Part {
    double sum = 0;
    std::optional<double> aggregate;  // exported beside its parts, with an empty label
  };
  struct Candidate {
    std::uint8_t preference = 255;
    std::map<std::string, Part> ranks;
  };
  struct Builder {
    std::array<Candidate, kSeriesFields> fields;
    std::uint64_t line = 0;
  };
  using Key = std::pair<model::EngineKind, Identity>;

  static model::EngineSeries series_of(const Key& key, const Builder& builder);
  model::EngineKind engine() const;

  std::map<Key, Builder> x_builders;
  std::optional<double> x_process_start;
  std::uint64_t x_line = 0;
  std::uint64_t x_values = 0;
  std::uint64_t x_dropped_series = 0;
};

}  // namespace unhang::formats::engine_metrics
