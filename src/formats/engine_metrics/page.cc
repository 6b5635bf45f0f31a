// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/page.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "formats/engine_metrics/engine_metrics.h"

namespace unhang::formats::engine_metrics {
namespace {

using model::EngineKind;
using model::EngineSeries;

std::string label_text(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text += ',';
    text += name + "=\"" + base::printable(value) + '"';
  }
  return text;
}

std::optional<double>& field_of(EngineSeries& series, std::size_t field) {
  switch (static_cast<Field>(field)) {
    case Field::kRunning:
      return series.running;
    case Field::kWaiting:
      return series.waiting;
    case Field::kKvUsage:
      return series.kv_usage;
    case Field::kPromptTokens:
      return series.prompt_tokens;
    case Field::kGenerationTokens:
      return series.generation_tokens;
    case Field::kSteps:
      return series.steps;
    case Field::kFinishedRequests:
      return series.finished_requests;
    case Field::kTokenEvents:
    case Field::kProcessStart:
      break;
  }
  return series.token_events;
}

// A request that was given up is no work done; clients give up most while the engine hangs.
bool given_up(const Label& label) {
  return label.name == "finished_reason" && label.value == "abort";
}

}  // namespace

void Page::add(const KnownName& known, const Exposed& exposed, std::uint64_t line) {
  if (!std::isfinite(exposed.value)) return;
  Identity identity;
  std::string rank;
  bool is_aggregate = false;
  bool label_fits = known.label.empty();
  for (const Label& label : exposed.labels) {
    if (label.name == known.label) label_fits = label.value == known.label_value;
    if (label.name == "priority" && label.value.empty()) is_aggregate = true;
    if (label.value.empty()) continue;
    if (known.field == Field::kFinishedRequests && given_up(label)) return;
    const LabelRole role = role_of_label(label.name);
    if (role == LabelRole::kReplica) identity.emplace_back(label.name, label.value);
    if (role == LabelRole::kRank) rank += std::string(label.name) + '=' + label.value + ',';
  }
  if (!label_fits) return;
  ++x_values;
  if (known.field == Field::kProcessStart) {
    x_process_start = std::max(exposed.value, x_process_start.value_or(exposed.value));
    return;
  }
  if (x_line == 0) x_line = line;
  std::sort(identity.begin(), identity.end());
  Key key{known.engine, std::move(identity)};
  if (x_builders.size() >= kMaxSeries && x_builders.count(key) == 0) {
    ++x_dropped_series;
    return;
  }
  Candidate& candidate = x_builders[std::move(key)].fields[static_cast<std::size_t>(known.field)];
  if (known.preference > candidate.preference) return;
  if (known.preference < candidate.preference) candidate = {known.preference, {}};
  Part& part = candidate.ranks[rank];
  if (is_aggregate) {
    part.aggregate = exposed.value;
  } else {
    part.sum += exposed.value;
  }
}

EngineSeries Page::series_of(const Key& key, const Builder& builder) {
  EngineSeries series;
  series.labels = label_text(key.second);
  for (std::size_t field = 0; field < kSeriesFields; ++field) {
    std::optional<double>& value = field_of(series, field);
    for (const auto& [rank, part] : builder.fields[field].ranks) {
      const double number = part.aggregate.value_or(part.sum);
      // Events of different sources have no common unit: what matters is that their sum grows with any of
      // them.
      const bool add_up = field == static_cast<std::size_t>(Field::kTokenEvents);
      value = add_up ? number + value.value_or(0) : std::max(number, value.value_or(number));
    }
  }
  return series;
}

EngineKind Page::engine() const {
  for (const EngineKind kind : {EngineKind::kVllm, EngineKind::kSglang, EngineKind::kTensorRtLlm,
                                EngineKind::kTriton, EngineKind::kDynamo}) {
    const auto is_kind = [&](const auto& entry) { return entry.first.first == kind; };
    if (std::any_of(x_builders.begin(), x_builders.end(), is_kind)) return kind;
  }
  return EngineKind::kUnknown;
}

model::EngineSample Page::finish() const {
  model::EngineSample sample;
  sample.engine = engine();
  sample.process_start = x_process_start;
  sample.line = x_line;
  std::vector<std::pair<const Identity*, EngineSeries>> found;
  for (const auto& [key, builder] : x_builders) {
    if (key.first == sample.engine) found.emplace_back(&key.second, series_of(key, builder));
  }
  // Values that their engine exports without the labels of a replica (SGLang's tokens beside its scheduler's
  // gauges) belong to the one replica that they fit; where they fit several, they stay by themselves.
  std::vector<bool> merged(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].second.running) continue;
    std::vector<std::size_t> homes;
    for (std::size_t j = 0; j < found.size(); ++j) {
      const Identity& home = *found[j].first;
      if (j != i && found[j].second.running &&
          std::includes(home.begin(), home.end(), found[i].first->begin(), found[i].first->end())) {
        homes.push_back(j);
      }
    }
    if (homes.size() != 1) continue;
    merged[i] = true;
    for (std::size_t field = 0; field < kSeriesFields; ++field) {
      std::optional<double>& value = field_of(found[homes[0]].second, field);
      if (!value) value = field_of(found[i].second, field);
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!merged[i]) sample.series.push_back(std::move(found[i].second));
  }
  std::sort(sample.series.begin(), sample.series.end(),
            [](const EngineSeries& a, const EngineSeries& b) { return a.labels < b.labels; });
  return sample;
}

}  // namespace unhang::formats::engine_metrics
