// SPDX-License-Identifier: Apache-2.0
#include "formats/verdict_document/verdict_document.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <simdjson.h>

#include "base/time_text.h"
#include "formats/stated_schema.h"

namespace unhang::formats::verdict_document {
namespace {

namespace dom = simdjson::dom;
using model::Severity;
using model::SubjectKind;

constexpr std::string_view kSchemaStem = "unhang.verdict/";
constexpr std::size_t kMaxDocument = 256 << 20;
constexpr std::size_t kMaxSubjects = 4096;  // of culprits and of suspects each
constexpr std::size_t kMaxInstances = 256;
constexpr std::size_t kMaxText = 256;  // bytes of a name

// A value of another type than it should be, or longer than a name is, counts as not there.
std::string text_at(const dom::object& object, std::string_view key) {
  std::string_view value;
  if (object[key].get_string().get(value) || value.size() > kMaxText) return {};
  return std::string(value);
}
std::optional<std::int32_t> number_at(const dom::object& object, std::string_view key) {
  std::int64_t value = 0;
  if (object[key].get_int64().get(value) || value < 0 || value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(value);
}
std::string time_at(const dom::object& object, std::string_view key) {
  const std::string text = text_at(object, key);
  return base::parse_utc(text) ? text : std::string();
}

std::optional<SubjectKind> kind_of(std::string_view word) {
  for (const SubjectKind kind :
       {SubjectKind::kRank, SubjectKind::kProcess, SubjectKind::kGpu, SubjectKind::kNic, SubjectKind::kLink,
        SubjectKind::kPort, SubjectKind::kHost, SubjectKind::kPair, SubjectKind::kGroup}) {
    if (model::name_of(kind) == word) return kind;
  }
  return std::nullopt;
}

std::vector<model::Subject> subjects_at(const dom::object& root, std::string_view key) {
  std::vector<model::Subject> out;
  dom::array list;
  if (root[key].get_array().get(list)) return out;
  for (const dom::element item : list) {
    dom::object object;
    if (item.get_object().get(object)) continue;
    const auto kind = kind_of(text_at(object, "kind"));
    if (!kind) continue;  // of a later release
    if (out.size() == kMaxSubjects) break;
    model::Subject subject;
    subject.kind = *kind;
    subject.rank = number_at(object, "rank");
    subject.group = text_at(object, "group");
    subject.group_rank = number_at(object, "group_rank");
    subject.host = text_at(object, "host");
    subject.gpu = text_at(object, "gpu");
    subject.nic = text_at(object, "nic");
    subject.peer = number_at(object, "peer");
    out.push_back(std::move(subject));
  }
  return out;
}

// When the incident was: the stall, or the first thing that it tells the time of.
std::string time_of(const dom::object& root) {
  dom::object times;
  if (!root["times"].get_object().get(times)) {
    for (const std::string_view key : {"stalled_since", "first_anomaly", "detected"}) {
      if (std::string time = time_at(times, key); !time.empty()) return time;
    }
  }
  dom::array timeline;
  if (root["timeline"].get_array().get(timeline)) return {};
  for (const dom::element item : timeline) {
    dom::object event;
    if (item.get_object().get(event)) continue;
    if (std::string time = time_at(event, "time"); !time.empty()) return time;
  }
  return {};
}

std::optional<model::EarlierVerdict> read(const dom::object& root) {
  dom::object summary;
  if (root["verdict"].get_object().get(summary)) return std::nullopt;
  model::EarlierVerdict out;
  out.category = text_at(summary, "category");
  out.cause = text_at(summary, "cause");
  if (out.category.empty() || out.cause.empty()) return std::nullopt;
  out.culprits = subjects_at(root, "culprits");
  out.suspects = subjects_at(root, "suspects");
  if (dom::object where; !root["where"].get_object().get(where)) {
    out.group = text_at(where, "group");
    out.operation = text_at(where, "operation");
    std::int64_t ordinal = -1;
    if (!where["ordinal"].get_int64().get(ordinal)) out.ordinal = ordinal;
  }
  out.stalled_since = time_of(root);
  dom::object blast;
  dom::array instances;
  if (!root["blast_radius"].get_object().get(blast) && !blast["instances"].get_array().get(instances)) {
    for (const dom::element item : instances) {
      std::string_view name;
      if (item.get_string().get(name) || name.size() > kMaxText) continue;
      if (out.instances.size() == kMaxInstances) break;
      out.instances.emplace_back(name);
    }
  }
  return out;
}

}  // namespace

bool sniff(std::string_view bytes) {
  return states_schema(bytes, kSchemaStem);
}

base::Result<model::EarlierVerdict> read_verdict(std::string path, std::string_view bytes) {
  const auto refuse = [](std::string text) { return base::fail(base::ErrorCode::kData, std::move(text)); };
  if (!sniff(bytes)) return refuse("it is no verdict that unhang wrote as JSON");
  if (bytes.size() > kMaxDocument) return refuse("larger than any verdict is");
  dom::parser parser;
  const simdjson::padded_string padded(bytes);
  dom::object root;
  if (const auto error = parser.parse(padded).get_object().get(root))
    return refuse(std::string("the verdict is damaged (") + simdjson::error_message(error) + ")");
  auto out = read(root);
  if (!out) return refuse("it states no category or no cause");
  out->file = std::move(path);
  return std::move(*out);
}

void parse(std::string_view, Evidence& evidence) {
  evidence.problems.push_back({Severity::kInfo,
                               "earlier_verdict",
                               "a verdict that unhang wrote, no evidence; --history FOLDER compares with it",
                               {},
                               0});
}

}  // namespace unhang::formats::verdict_document
