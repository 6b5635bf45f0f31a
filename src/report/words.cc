// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <algorithm>
#include <map>

#include "model/cause.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::Subject;
using model::SubjectKind;

std::string rank_words(const Subject& s) {
  if (s.rank) return "rank " + std::to_string(*s.rank);
  if (s.group_rank)
    return "rank " + std::to_string(*s.group_rank) + " of " + (s.group.empty() ? "its group" : s.group);
  return "a rank";
}

std::string thing_on_host(const std::string& thing, const Subject& s) {
  std::string out = thing;
  if (!s.host.empty()) out += " on " + s.host;
  if (s.rank) out += " (" + rank_words(s) + ")";
  return out;
}

bool is_plain_rank(const Subject& s) {
  return s.kind == SubjectKind::kRank && s.rank.has_value();
}

}  // namespace

std::string spaced(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string subject_words(const Subject& s) {
  const std::string at_host = s.host.empty() ? "" : " (" + s.host + ")";
  switch (s.kind) {
    case SubjectKind::kRank:
      return rank_words(s) + at_host;
    case SubjectKind::kProcess:
      return thing_on_host(s.pid ? "process " + std::to_string(*s.pid) : "the process", s);
    case SubjectKind::kGpu:
      return thing_on_host("GPU" + (s.gpu.empty() ? "" : " " + s.gpu), s);
    case SubjectKind::kNic:
      return thing_on_host("NIC" + (s.nic.empty() ? "" : " " + s.nic), s);
    case SubjectKind::kLink:
      return thing_on_host("link" + (s.nic.empty() ? s.gpu.empty() ? "" : " " + s.gpu : " " + s.nic), s);
    case SubjectKind::kPort:
      return thing_on_host("port" + (s.nic.empty() ? "" : " " + s.nic), s);
    case SubjectKind::kHost:
      return "host " + (s.host.empty() ? "(not known)" : s.host);
    case SubjectKind::kPair:
      return "pair " + (s.rank ? std::to_string(*s.rank) : "?") + "->" +
             (s.peer ? std::to_string(*s.peer) : "?") + at_host;
    case SubjectKind::kGroup:
      return "group " + (s.group.empty() ? "(not known)" : s.group);
  }
  return rank_words(s);
}

std::vector<std::string> subjects_words(const std::vector<Subject>& subjects, int width) {
  std::map<std::int32_t, std::string> host_of;  // a rank once, with its first host
  for (const Subject& s : subjects) {
    if (is_plain_rank(s)) host_of.emplace(*s.rank, s.host);
  }
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> hosts;  // in order of their lowest rank
  for (const auto& [rank, host] : host_of) {
    auto same =
        std::find_if(hosts.begin(), hosts.end(), [&](const auto& entry) { return entry.first == host; });
    if (same == hosts.end()) same = hosts.insert(hosts.end(), {host, {}});
    same->second.push_back(rank);
  }
  std::vector<std::string> out;
  for (const auto& [host, ranks] : hosts) {
    const std::string label = ranks.size() == 1 ? "rank " : "ranks ";
    const std::string at_host = host.empty() ? "" : " (" + host + ")";
    out.push_back(label + fold_within(ranks, width - columns(label) - columns(at_host)) + at_host);
  }
  for (const Subject& s : subjects) {
    if (is_plain_rank(s)) continue;
    std::string words = subject_words(s);
    if (std::find(out.begin(), out.end(), words) == out.end()) out.push_back(std::move(words));
  }
  return out;
}

std::string where_words(const model::Where& where) {
  std::string operation = where.operation;
  if (where.ordinal) operation += (operation.empty() ? "operation #" : " #") + std::to_string(*where.ordinal);
  std::string out;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    if (!out.empty()) out += " · ";
    out += part;
  };
  add(operation);
  add(where.group.empty() ? "" : "group " + where.group);
  if (where.iteration) add("step " + std::to_string(*where.iteration));
  return out;
}

std::string citation(const model::EvidenceItem& item, int path_width) {
  std::string out = item.file.empty() ? "(no file)" : cut_front(item.file, path_width);
  if (item.record) out += " record " + std::to_string(*item.record);
  if (item.line) out += " line " + std::to_string(*item.line);
  if (item.offset && !item.record && !item.line) out += " byte " + std::to_string(*item.offset);
  return out;
}

std::string_view blast_verb(const model::Verdict& verdict) {
  using model::Category;
  using model::State;
  if (verdict.category == Category::kPerformanceDegradation || verdict.state == State::kSlow)
    return "slowed down";
  if (verdict.state == State::kStopped || verdict.state == State::kDead) return "waiting";
  if (verdict.category == Category::kCollectiveDesync || verdict.category == Category::kTransportStall ||
      verdict.category == Category::kInitializationHang) {
    return "waiting";
  }
  return "affected";
}

bool is_healthy(const model::Verdict& verdict) {
  return verdict.category == model::Category::kHealthy;
}

std::string_view cause_title(std::string_view code) {
  const model::CauseInfo* info = model::find_cause(code);
  return info == nullptr ? code : info->title;
}

std::string frame_words(const model::StackLine& frame) {
  std::string out = frame.function.empty() ? "(unnamed)" : frame.function;
  if (!frame.file.empty()) {
    out += " (" + frame.file;
    if (frame.line > 0) out += ":" + std::to_string(frame.line);
    out += ")";
  }
  return out;
}

std::vector<model::StackLine> shown_frames(const std::vector<model::StackLine>& frames, bool all) {
  if (all || frames.empty()) return frames;
  const auto user =
      std::find_if(frames.begin(), frames.end(), [](const auto& frame) { return frame.user_code; });
  return {user == frames.end() ? frames.front() : *user};
}

std::vector<model::EvidenceId> key_evidence(const model::Verdict& verdict, std::size_t most) {
  std::vector<model::EvidenceId> out;
  const auto add = [&](const std::vector<model::EvidenceId>& ids, std::size_t limit) {
    std::size_t taken = 0;
    for (const model::EvidenceId id : ids) {
      if (out.size() >= most || taken >= limit) return;
      if (id >= verdict.evidence.size() || std::find(out.begin(), out.end(), id) != out.end()) continue;
      out.push_back(id);
      ++taken;
    }
  };
  for (const auto& culprit : verdict.culprits) add(culprit.evidence, 1);  // one of each before two of one
  for (const auto& finding : verdict.findings) {
    if (finding.cause == verdict.cause) add(finding.evidence, most);
  }
  for (const auto& culprit : verdict.culprits) add(culprit.evidence, most);
  for (const auto& suspect : verdict.suspects) add(suspect.evidence, 1);
  for (const auto& finding : verdict.findings) add(finding.evidence, most);
  return out;
}

}  // namespace unhang::report
