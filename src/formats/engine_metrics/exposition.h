// SPDX-License-Identifier: Apache-2.0
//
// One line of the Prometheus text format or of OpenMetrics: name, labels, value; time stamps and exemplars
// are passed over. Knows nothing of engines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace unhang::formats::engine_metrics {

struct Label {
  std::string_view name;
  std::string value;  // unescaped
};

// The name at the beginning of a line, or empty when none begins there. Letters, digits, "_" and ":".
std::string_view leading_name(std::string_view line);

struct Exposed {
  std::vector<Label> labels;
  double value = 0;  // may be infinite or not a number
};

// What follows the name (`rest` of the line, without its end). nullopt when it is not a metric: an open
// label set, no number, text after it. `out.labels` is reused.
bool parse_exposed(std::string_view rest, Exposed& out);

// "12", "1.5e3", "+Inf", "NaN": as the text format writes numbers, and nothing around them.
std::optional<double> parse_number(std::string_view text);

}  // namespace unhang::formats::engine_metrics
