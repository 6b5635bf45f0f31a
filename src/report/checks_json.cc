// SPDX-License-Identifier: Apache-2.0
#include "report/checks_json.h"

#include <vector>

#include "report/json_stream.h"

namespace unhang::report {
namespace {

void add_texts(JsonStream& json, const std::vector<std::string>& texts) {
  json.raw("[");
  bool first = true;
  for (const std::string& text : texts) {
    if (!first) json.raw(",");
    first = false;
    json.text(text);
  }
  json.raw("]");
}

void add_count(JsonStream& json, const model::CheckReport& report, model::CheckStatus status) {
  json.raw("\"")
      .raw(model::name_of(status))
      .raw("\":")
      .number(static_cast<std::int64_t>(report.count(status)));
}

}  // namespace

std::string checks_json(const model::CheckReport& report, std::string_view schema) {
  using Status = model::CheckStatus;
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw("{\n\"schema\":").text(schema).raw(",\n\"subject\":").text(report.subject);
  json.raw(",\n\"status\":").text(model::name_of(report.worst())).raw(",\n\"counts\":{");
  bool first = true;
  for (const Status status : {Status::kPass, Status::kUnknown, Status::kWarn, Status::kFail}) {
    if (!first) json.raw(",");
    first = false;
    add_count(json, report, status);
  }
  json.raw("},\n\"notes\":");
  add_texts(json, report.notes);
  json.raw(",\n\"checks\":[");
  first = true;
  for (const model::CheckResult& result : report.results) {
    json.raw(first ? "\n" : ",\n");
    first = false;
    json.raw("{\"id\":").text(result.id).raw(",\"status\":").text(model::name_of(result.status));
    json.raw(",\"title\":").text(result.title).raw(",\"detail\":").text_or_null(result.detail);
    json.raw(",\"why\":").text_or_null(result.why).raw(",\"fix\":").text_or_null(result.fix);
    json.raw(",\"evidence\":");
    add_texts(json, result.evidence);
    json.raw("}");
  }
  json.raw("]\n}\n").flush();
  return out;
}

}  // namespace unhang::report
