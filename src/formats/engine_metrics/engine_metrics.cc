// SPDX-License-Identifier: Apache-2.0
#include "formats/engine_metrics/engine_metrics.h"

#include <fmt/format.h>

#include "formats/engine_metrics/exposition.h"
#include "formats/engine_metrics/iteration_stats.h"
#include "formats/engine_metrics/names.h"
#include "formats/engine_metrics/page.h"

namespace unhang::formats::engine_metrics {
namespace {

using model::Severity;

// One line without its end; `bytes` begins with the next one afterwards. `ended`: there was an end.
std::string_view take_line(std::string_view& bytes, bool& ended) {
  const std::size_t end = bytes.find('\n');
  ended = end != std::string_view::npos;
  std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(ended ? end + 1 : bytes.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// Names that are not needed are not parsed: a page has thousands of them. What no metric can look like is
// still noticed.
bool looks_like_a_value(std::string_view name, std::string_view line) {
  if (name.empty() || line.size() == name.size()) return false;
  const char next = line[name.size()];
  return next == '{' || next == ' ' || next == '\t';
}

struct Reading {
  Page page;
  std::uint64_t garbage = 0;
  std::uint64_t garbage_bytes = 0;
  std::uint64_t first_garbage = 0;  // line
  std::uint64_t lines = 0;
  bool last_line_open = false;
  bool end_marked = false;    // "# EOF" of OpenMetrics
  bool open_metrics = false;  // only OpenMetrics has units and "# EOF"
};

void read_value(std::string_view line, Reading& reading, Exposed& exposed) {
  const std::string_view name = leading_name(line);
  const NameRange meanings = known_names(name);
  const bool sound =
      meanings.empty() ? looks_like_a_value(name, line) : parse_exposed(line.substr(name.size()), exposed);
  if (!sound) {
    if (reading.garbage++ == 0) reading.first_garbage = reading.lines;
    reading.garbage_bytes += line.size();
    return;
  }
  for (const KnownName& known : meanings) reading.page.add(known, exposed, reading.lines);
}

void read_lines(std::string_view bytes, Reading& reading) {
  Exposed exposed;
  while (!bytes.empty() && !reading.end_marked) {
    bool ended = true;
    std::string_view line = take_line(bytes, ended);
    ++reading.lines;
    reading.last_line_open = !ended;
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty()) continue;
    if (line.front() == '#') {
      if (line == "# EOF") reading.end_marked = true;
      if (line.substr(0, 7) == "# UNIT ") reading.open_metrics = true;
      continue;
    }
    read_value(line, reading, exposed);
  }
}

void report(const Reading& reading, const model::EngineSample& sample, Evidence& evidence) {
  const auto add = [&](Severity severity, std::string code, std::string text, std::uint64_t lost) {
    evidence.problems.push_back({.severity = severity,
                                 .code = std::move(code),
                                 .text = std::move(text),
                                 .offset = {},
                                 .bytes_lost = lost});
  };
  if (reading.garbage > 0) {
    add(Severity::kError, "not_a_metric",
        fmt::format("{} lines are no metric, the first is line {}; they were left out", reading.garbage,
                    reading.first_garbage),
        reading.garbage_bytes);
  }
  if (reading.open_metrics && !reading.end_marked) {
    add(Severity::kDataLoss, "truncated", "the page has no end (# EOF): it was cut off", 0);
  } else if (reading.last_line_open && !reading.end_marked) {
    add(Severity::kInfo, "no_final_newline",
        "the last line has no line end: if the page was cut off there, its last number is too short", 0);
  }
  if (reading.page.dropped_series() > 0) {
    add(Severity::kDataLoss, "too_many",
        fmt::format("more than {} replicas on one page; {} values of others were left out", kMaxSeries,
                    reading.page.dropped_series()),
        0);
  }
  if (sample.engine == model::EngineKind::kUnknown) {
    add(Severity::kInfo, "no_engine_counters",
        "a metric page without the counters of vLLM, SGLang, TensorRT-LLM, Triton or Dynamo: another "
        "program's, or the engine's metrics are off (SGLang: --enable-metrics)",
        0);
  }
}

}  // namespace

bool sniff(std::string_view bytes) {
  if (sniff_iteration_stats(bytes)) return true;
  // The first line that says something decides: a comment of the format, or the value of an engine's counter.
  for (int lines = 0; lines < 64 && !bytes.empty(); ++lines) {
    bool ended = true;
    const std::string_view line = take_line(bytes, ended);
    if (is_blank_line(line)) continue;
    if (line.substr(0, 7) == "# HELP " || line.substr(0, 7) == "# TYPE ") {
      return !leading_name(line.substr(7)).empty();
    }
    if (line.front() == '#') continue;
    const std::string_view name = leading_name(line);
    Exposed exposed;
    return !known_names(name).empty() && parse_exposed(line.substr(name.size()), exposed);
  }
  return false;
}

void parse(std::string_view bytes, Evidence& evidence) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && (bytes[begin] == '[' || bytes[begin] == '{')) {
    parse_iteration_stats(bytes, evidence);
    return;
  }
  Reading reading;
  read_lines(bytes, reading);
  model::EngineSample sample = reading.page.finish();
  report(reading, sample, evidence);
  evidence.engine_samples.push_back(std::move(sample));
}

}  // namespace unhang::formats::engine_metrics
