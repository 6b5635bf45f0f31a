// SPDX-License-Identifier: Apache-2.0
#include "report/watch_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.h"
#include "report/json_stream.h"
#include "report/styled.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::InstanceState;
using model::State;

constexpr int kLongestName = 32;
constexpr std::size_t kMilliseconds = 23;  // "2026-11-29T20:55:26.120"
constexpr std::size_t kDate = 11, kSeconds = 8;

std::string moment(std::int64_t ns) {
  return base::utc_text(ns).substr(0, kMilliseconds) + "Z";
}
std::string clock_time(std::int64_t ns) {
  return base::utc_text(ns).substr(kDate, kSeconds) + "Z";
}

// "0.4 s", "12 s", "3 min", "2 h": for a glance.
std::string span_words(std::int64_t ns) {
  const double seconds = static_cast<double>(std::max<std::int64_t>(ns, 0)) / 1e9;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

Style style_of(State state) {
  switch (state) {
    case State::kAdvancing:
      return Style::kGood;
    case State::kSlow:
    case State::kUnknown:
      return Style::kWarning;
    case State::kStopped:
    case State::kDead:
      return Style::kBad;
    case State::kIdle:
    case State::kStarting:
      break;
  }
  return Style::kFaint;
}

bool needs_words(State state) {
  return state != State::kAdvancing && state != State::kIdle;
}

std::string moved_words(const InstanceState& instance, std::int64_t now_ns) {
  if (!instance.last_moved_ns) return "nothing was seen to move";
  return fmt::format("{} moved {} ago", one_line(instance.moved_last),
                     span_words(now_ns - *instance.last_moved_ns));
}

std::string says_words(const InstanceState& instance) {
  std::string out;
  for (const model::SignalState& signal : instance.signals) {
    if (signal.usable && !signal.says.empty()) out += (out.empty() ? "" : "; ") + one_line(signal.says);
  }
  return out;
}

Line first_line(const InstanceState& instance, int name_width, const WatchOptions& options) {
  const std::string name = cut(instance.name, name_width);
  const std::string state(model::name_of(instance.state));
  std::string rest = fmt::format("{:>7}  {}", span_words(options.now_ns - instance.since_ns),
                                 moved_words(instance, options.now_ns));
  if (!instance.lags.empty()) rest += "; lags: " + one_line(instance.lags);
  if (const std::string says = says_words(instance); !says.empty()) rest += "; " + says;
  const std::string pad(static_cast<std::size_t>(std::max(0, name_width - columns(name))), ' ');
  const int used = name_width + 2 + 9 + 1;
  return {{name + pad + "  ", Style::kStrong},
          {fmt::format("{:<9} ", state), style_of(instance.state)},
          {cut(rest, std::max(10, options.width - used)), Style::kPlain}};
}

void add_words(std::vector<Line>& lines, const std::string& words, Style style, int width) {
  constexpr int kIndent = 4;
  for (const std::string& line : wrap(words, std::max(20, width - kIndent))) {
    lines.push_back({{std::string(kIndent, ' ') + line, style}});
  }
}

void json_time(JsonStream& json, std::optional<std::int64_t> ns) {
  if (ns) {
    json.text(base::utc_text(*ns));
  } else {
    json.raw("null");
  }
}

}  // namespace

std::vector<std::string> watch_screen(const std::vector<InstanceState>& instances,
                                      const WatchOptions& options) {
  int name_width = 8;
  for (const InstanceState& instance : instances)
    name_width = std::max(name_width, columns(one_line(instance.name)));
  name_width = std::min({name_width, kLongestName, std::max(8, options.width / 3)});
  std::vector<Line> lines;
  for (const InstanceState& instance : instances) {
    lines.push_back(first_line(instance, name_width, options));
    if (needs_words(instance.state)) add_words(lines, instance.why, Style::kPlain, options.width);
    for (const std::string& finding : instance.findings)
      add_words(lines, finding, Style::kWarning, options.width);
    for (const model::SignalState& signal : instance.signals) {
      if (!signal.usable)
        add_words(lines, signal.name + " not usable: " + signal.why_not, Style::kFaint, options.width);
    }
  }
  std::vector<std::string> out;
  for (const Line& line : lines) out.push_back(paint({line}, options.color));
  return out;
}

std::string watch_change(const InstanceState& instance, std::optional<State> before,
                         const WatchOptions& options) {
  Line line{{moment(options.now_ns) + " ", Style::kFaint}, {one_line(instance.name) + ": ", Style::kStrong}};
  if (before) line.push_back({std::string(model::name_of(*before)) + " -> ", Style::kPlain});
  line.push_back({std::string(model::name_of(instance.state)), style_of(instance.state)});
  std::string rest;
  if (instance.state == State::kStopped) rest += " since " + clock_time(instance.since_ns);
  rest += ": " + one_line(instance.why);
  if (!instance.moved_last.empty() && instance.state != State::kAdvancing) {
    rest += "; moved last: " + one_line(instance.moved_last);
  }
  if (!instance.lags.empty()) rest += "; lags: " + one_line(instance.lags);
  for (const std::string& finding : instance.findings) rest += "; " + one_line(finding);
  for (const model::SignalState& signal : instance.signals) {
    if (!signal.usable)
      rest += fmt::format("; {} not usable: {}", one_line(signal.name), one_line(signal.why_not));
  }
  line.push_back({rest, Style::kPlain});
  return paint({line}, options.color);
}

std::string watch_json(const InstanceState& instance, bool changed, std::int64_t now_ns) {
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw(R"({"schema":"unhang.watch/1","event":"state","time":)").text(base::utc_text(now_ns));
  json.raw(R"(,"instance":)").text(instance.name);
  json.raw(R"(,"state":)").text(model::name_of(instance.state));
  json.raw(R"(,"since":)").text(base::utc_text(instance.since_ns));
  json.raw(R"(,"changed":)").boolean(changed);
  json.raw(R"(,"why":)").text(instance.why);
  json.raw(R"(,"moved_last":)").text_or_null(instance.moved_last);
  json.raw(R"(,"last_moved":)");
  json_time(json, instance.last_moved_ns);
  json.raw(R"(,"lags":)").text_or_null(instance.lags);
  json.raw(R"(,"signals":[)");
  for (std::size_t i = 0; i < instance.signals.size(); ++i) {
    const model::SignalState& signal = instance.signals[i];
    json.raw(i > 0 ? R"(,{"signal":)" : R"({"signal":)").text(signal.name);
    json.raw(R"(,"usable":)").boolean(signal.usable);
    json.raw(R"(,"why_not":)").text_or_null(signal.why_not);
    json.raw(R"(,"last_moved":)");
    json_time(json, signal.last_moved_ns);
    json.raw(R"(,"says":)").text_or_null(signal.says).raw("}");
  }
  json.raw(R"(],"findings":[)");
  for (std::size_t i = 0; i < instance.findings.size(); ++i) {
    json.raw(i > 0 ? "," : "").text(instance.findings[i]);
  }
  json.raw("]}\n");
  json.flush();
  return out;
}

std::string watch_capture_json(const std::string& instance, const std::string& folder,
                               const std::string& trouble, std::int64_t now_ns) {
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw(R"({"schema":"unhang.watch/1","event":"capture","time":)").text(base::utc_text(now_ns));
  json.raw(R"(,"instance":)").text(instance);
  json.raw(R"(,"folder":)").text(folder);
  json.raw(R"(,"trouble":)").text_or_null(trouble).raw("}\n");
  json.flush();
  return out;
}

}  // namespace unhang::report
