// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace unhang::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kEvidenceText = 200;  // characters

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// A time that is not RFC 3339 in UTC is not known as a time.
Json time_or_null(const std::string& text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  bool fits = text.size() > kForm.size() && text.back() == 'Z';
  for (std::size_t i = 0; fits && i < kForm.size(); ++i) {
    fits = kForm[i] == '0' ? is_digit(text[i]) : text[i] == kForm[i];
  }
  const std::size_t fraction = fits ? text.size() - kForm.size() - 1 : 0;  // with its point
  if (fraction > 0) {
    fits =
        text[kForm.size()] == '.' && fraction >= 2 && fraction <= 10 &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(kForm.size()) + 1, text.end() - 1, is_digit);
  }
  return fits ? Json(text) : Json(nullptr);
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// The first `limit` characters (not bytes). Broken UTF-8 is replaced when the document is written.
std::string first_characters(const std::string& text, std::size_t limit) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
    if (!continues && seen++ == limit) return text.substr(0, i);
    if (i >= 4 * limit) return text.substr(0, i);  // a run of continuation bytes is no character at all
  }
  return text;
}

template <class T, class F>
Json list_of(const std::vector<T>& values, F to_json) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(to_json(value));
  return out;
}

std::string_view word_of(model::Severity severity) {
  switch (severity) {
    case model::Severity::kInfo:
      return "info";
    case model::Severity::kError:
      return "error";
    case model::Severity::kDataLoss:
      return "data_loss";
  }
  return "error";
}

Json problem_json(const model::ImportProblem& p) {
  return {{"severity", word_of(p.severity)},
          {"code", p.code},
          {"text", p.text},
          {"offset", value_or_null(p.offset)},
          {"bytes_lost", p.bytes_lost}};
}

Json inputs_json(const std::vector<model::Input>& inputs, const std::vector<model::SetAside>& set_aside) {
  Json out = list_of(inputs, [](const model::Input& input) {
    return Json{{"path", input.path},
                {"kind", input.kind},
                {"problems", list_of(input.problems, problem_json)},
                {"set_aside", nullptr}};
  });
  for (const model::SetAside& aside : set_aside) {
    if (aside.input < out.size()) out[aside.input]["set_aside"] = aside.reason;
  }
  return out;
}

Json subject_json(const model::Subject& s) {
  return {{"kind", model::name_of(s.kind)}, {"rank", value_or_null(s.rank)},
          {"group", text_or_null(s.group)}, {"group_rank", value_or_null(s.group_rank)},
          {"host", text_or_null(s.host)},   {"pid", value_or_null(s.pid)},
          {"gpu", text_or_null(s.gpu)},     {"nic", text_or_null(s.nic)},
          {"peer", value_or_null(s.peer)},  {"why", s.why},
          {"evidence", s.evidence}};
}

Json frame_json(const model::StackLine& f) {
  return {{"function", f.function}, {"file", f.file}, {"line", f.line}, {"user_code", f.user_code}};
}

Json finding_json(const model::Finding& f) {
  return {{"id", f.id},
          {"category", model::name_of(f.category)},
          {"cause", f.cause},
          {"strength", model::name_of(f.strength)},
          {"text", f.text},
          {"culprits", list_of(f.culprits, subject_json)},
          {"evidence", f.evidence},
          {"rules_out", f.rules_out}};
}

Json alternative_json(const model::Alternative& a) {
  return {{"category", model::name_of(a.category)},
          {"cause", a.cause},
          {"for", a.speaks_for},
          {"against", a.speaks_against},
          {"decide_by", a.decide_by}};
}

Json evidence_json(const std::vector<model::EvidenceItem>& items) {
  Json out = Json::array();
  for (const model::EvidenceItem& e : items) {
    out.push_back({{"file", e.file},
                   {"line", value_or_null(e.line)},
                   {"offset", value_or_null(e.offset)},
                   {"record", value_or_null(e.record)},
                   {"text", first_characters(e.text, kEvidenceText)},
                   {"id", out.size()}});
  }
  return out;
}

Json summary_json(const model::Verdict& v) {
  return {{"category", model::name_of(v.category)},
          {"cause", v.cause},
          {"root", text_or_null(v.root)},
          {"phase", model::name_of(v.phase)},
          {"fault_domain", model::name_of(v.fault_domain)},
          {"state", model::name_of(v.state)},
          {"confidence", model::name_of(v.confidence)},
          {"headline", v.headline}};
}

Json where_json(const model::Where& w) {
  return {{"group", text_or_null(w.group)},
          {"operation", text_or_null(w.operation)},
          {"ordinal", value_or_null(w.ordinal)},
          {"iteration", value_or_null(w.iteration)},
          {"stack", list_of(w.stack, frame_json)}};
}

Json progress_json(const model::ProgressSignal& p) {
  return {{"signal", p.signal},
          {"scope", p.scope},
          {"usable", p.usable},
          {"why_not", text_or_null(p.why_not)},
          {"last_moved", time_or_null(p.last_moved)}};
}

Json event_json(const model::TimelineEvent& e) {
  return {{"time", time_or_null(e.time)}, {"clock", e.clock},
          {"host", text_or_null(e.host)}, {"event", e.event},
          {"evidence", e.evidence},       {"after_the_fact", e.after_the_fact}};
}

Json times_json(const model::IncidentTimes& t) {
  return {{"first_anomaly", time_or_null(t.first_anomaly)},
          {"stalled_since", time_or_null(t.stalled_since)},
          {"stalled_basis", text_or_null(t.stalled_basis)},
          {"detected", time_or_null(t.detected)},
          {"dumped", time_or_null(t.dumped)},
          {"ended", time_or_null(t.ended)},
          {"gpu_hours_lost", value_or_null(t.gpu_hours_lost)},
          {"lost_basis", text_or_null(t.lost_basis)}};
}

Json step_json(const model::RecoveryStep& s) {
  return {{"why", s.why}, {"command", text_or_null(s.command)}, {"changes_the_world", s.changes_the_world}};
}

Json recurrence_json(const model::Recurrence& r) {
  return {{"subject", r.subject},
          {"times", r.times},
          {"verdicts", r.verdicts},
          {"last", text_or_null(r.last)},
          {"cause", text_or_null(r.cause)}};
}

Json coverage_json(const model::CoverageLine& c) {
  return {{"source", c.source},
          {"seen", c.seen},
          {"partial", c.partial},
          {"unreadable", c.unreadable},
          {"absent", c.absent}};
}

Json clock_json(const model::ClockOffset& c) {
  return {{"host", c.host}, {"offset_ns", c.offset_ns}, {"spread_ns", c.spread_ns}, {"basis", c.basis}};
}

Json stack_json(const model::RankStack& s) {
  return {{"ranks", s.ranks}, {"role", s.role}, {"frames", list_of(s.frames, frame_json)}};
}

Json document(const model::Verdict& v, const std::vector<model::Input>& inputs,
              const std::vector<model::SetAside>& set_aside) {
  Json out;
  out["schema"] = "unhang.verdict/1";
  out["tool"] = Json{{"name", "unhang"}, {"version", UNHANG_VERSION}};
  out["inputs"] = inputs_json(inputs, set_aside);
  out["verdict"] = summary_json(v);
  out["culprits"] = list_of(v.culprits, subject_json);
  out["suspects"] = list_of(v.suspects, subject_json);
  out["victims"] = list_of(v.victims, subject_json);
  out["where"] = where_json(v.where);
  out["blast_radius"] = Json{{"ranks", v.blast_radius.ranks},
                             {"groups", v.blast_radius.groups},
                             {"hosts", v.blast_radius.hosts},
                             {"instances", v.blast_radius.instances}};
  out["findings"] = list_of(v.findings, finding_json);
  out["alternatives"] = list_of(v.alternatives, alternative_json);
  out["evidence"] = evidence_json(v.evidence);
  out["progress"] = list_of(v.progress, progress_json);
  out["timeline"] = list_of(v.timeline, event_json);
  out["times"] = times_json(v.times);
  out["not_seen"] = v.not_seen;
  out["recovery"] = Json{{"level", model::name_of(v.recovery.level)},
                         {"environment", text_or_null(v.recovery.environment)},
                         {"steps", list_of(v.recovery.steps, step_json)},
                         {"retest", v.recovery.retest}};
  out["history"] = list_of(v.history, recurrence_json);
  out["coverage"] = Json{{"expected", v.expected_ranks},
                         {"rows", list_of(v.coverage, coverage_json)},
                         {"not_asked", v.not_asked}};
  out["clocks"] = list_of(v.clocks, clock_json);
  out["stacks"] = list_of(v.stacks, stack_json);
  out["exit_code"] = model::exit_code(v);
  return out;
}

std::string written(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string render_json(const model::Verdict& verdict, const std::vector<model::Input>& inputs,
                        const std::vector<model::SetAside>& set_aside) {
  const Json all = document(verdict, inputs, set_aside);
  std::string out = "{";
  for (const auto& [key, value] : all.items()) {
    out += (out.size() == 1 ? "\n" : ",\n") + written(Json(key)) + ": ";
    if (!value.is_array() || value.empty()) {
      out += written(value);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) out += (i == 0 ? "[\n  " : ",\n  ") + written(value[i]);
    out += "\n]";
  }
  return out + "\n}\n";
}

}  // namespace unhang::report
