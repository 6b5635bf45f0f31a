// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "report/json_stream.h"
#include "report/launch_screen.h"

namespace unhang::report {
namespace {

using model::LaunchFacts;
using model::LaunchReport;
using model::LaunchRun;
using model::LaunchStage;

class Writer {
 public:
  std::string write(const LaunchReport& report) {
    x_json.raw("{\n\"schema\":\"unhang.probe/1\",\n\"command\":");
    texts(report.command);
    x_json.raw(",\n\"set\":{");
    bool first = true;
    for (const auto& [name, value] : report.set) {
      x_json.raw(first ? "" : ",").text(name).raw(":").text(value);
      first = false;
    }
    x_json.raw("},\n\"launch\":");
    run(report.base);
    x_json.raw(",\n\"trials\":[");
    first = true;
    for (const LaunchRun& trial : report.trials) {
      x_json.raw(first ? "\n" : ",\n");
      first = false;
      run(trial);
    }
    x_json.raw("],\n\"ruled_out\":");
    texts(report.ruled_out);
    x_json.raw(",\n\"verdict\":");
    if (report.verdict) {
      const model::Verdict& v = *report.verdict;
      x_json.raw("{\"category\":").text(model::name_of(v.category)).raw(",\"cause\":").text(v.cause);
      x_json.raw(",\"confidence\":").text(model::name_of(v.confidence));
      x_json.raw(",\"state\":").text(model::name_of(v.state));
      x_json.raw(",\"headline\":").text(v.headline).raw("}");
    } else {
      x_json.raw("null");
    }
    x_json.raw(",\n\"notes\":");
    texts(report.notes);
    x_json.raw("\n}\n").flush();
    return std::move(x_out);
  }

 private:
  void texts(const std::vector<std::string>& list) {
    x_json.raw("[");
    bool first = true;
    for (const std::string& item : list) {
      x_json.raw(first ? "" : ",").text(item);
      first = false;
    }
    x_json.raw("]");
  }
  void number(std::string_view key, const std::optional<double>& value) {
    x_json.raw(",\"").raw(key).raw("\":");
    x_json.raw(value && std::isfinite(*value) ? fmt::format("{:.3f}", *value) : "null");
  }

  void run(const LaunchRun& run) {
    x_json.raw("{\"change\":").text_or_null(run.change).raw(",\"folder\":").text(run.folder);
    stage(run.stage);
    facts(run.facts);
    x_json.raw(",\"outcome\":").text_or_null(run.outcome).raw("}");
  }

  void stage(const LaunchStage& stage) {
    x_json.raw(",\n \"place\":").text(model::name_of(stage.place));
    x_json.raw(",\"movement\":").text(model::name_of(stage.movement));
    x_json.raw(",\"confidence\":").text(model::name_of(stage.confidence));
    x_json.raw(",\"doing\":").text_or_null(stage.doing).raw(",\"headline\":").text(stage.headline);
    x_json.raw(",\"missing_ranks\":[");
    bool first = true;
    for (const std::int32_t rank : stage.missing) {
      x_json.raw(first ? "" : ",").number(rank);
      first = false;
    }
    x_json.raw("],\n \"evidence\":[");
    first = true;
    for (const model::EvidenceItem& item : stage.evidence) {
      x_json.raw(first ? "" : ",").raw("{\"file\":").text(item.file);
      x_json.raw(",\"line\":").number_or_null(item.line).raw(",\"text\":").text(item.text).raw("}");
      first = false;
    }
    x_json.raw("],\"not_seen\":");
    texts(stage.not_seen);
  }

  void facts(const LaunchFacts& facts) {
    x_json.raw(",\n \"ended\":").boolean(facts.ended);
    x_json.raw(",\"exit_code\":")
        .number_or_null(facts.ended && facts.signal == 0 ? std::optional<std::int64_t>(facts.exit_code)
                                                         : std::nullopt);
    x_json.raw(",\"signal\":")
        .number_or_null(facts.signal != 0 ? std::optional<std::int64_t>(facts.signal) : std::nullopt);
    x_json.raw(",\"interrupted_by\":")
        .number_or_null(facts.interrupted_by != 0 ? std::optional<std::int64_t>(facts.interrupted_by)
                                                  : std::nullopt);
    number("limit_s", facts.limit_s);
    number("ran_s", facts.ran_s);
    number("silent_s", facts.silent_s);
    number("nccl_began_s", facts.nccl_began_s);
    number("nccl_ready_s", facts.nccl_ready_s);
    number("first_call_s", facts.first_call_s);
    number("throughput", facts.throughput);
    x_json.raw(",\"throughput_unit\":").text_or_null(facts.throughput_unit);
    x_json.raw(",\"output_bytes\":").number(static_cast<std::int64_t>(facts.output_bytes));
    x_json.raw(",\"last_line\":").text_or_null(facts.last_line);
    x_json.raw(",\"processes\":").number(static_cast<std::int64_t>(facts.processes));
    x_json.raw(",\"killed\":").boolean(facts.killed).raw(",\"left\":");
    texts(facts.left);
    x_json.raw(",\"notes\":");
    texts(facts.notes);
  }

  std::string x_out;
  JsonStream x_json{[this](std::string_view bytes) { x_out += bytes; }};
};

}  // namespace

std::string launch_json(const LaunchReport& report) {
  return Writer().write(report);
}

}  // namespace unhang::report
