// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

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

// What the ranks of the blast radius do.
std::string_view blast_verb(const model::Verdict& v) {
  using model::Category;
  using model::State;
  if (v.category == Category::kPerformanceDegradation || v.state == State::kSlow) return "slowed down";
  const bool inside = v.category == Category::kCollectiveDesync || v.category == Category::kTransportStall ||
                      v.category == Category::kInitializationHang;
  if (v.state == State::kUnknown && inside) return "perhaps waiting";
  return v.state == State::kStopped || v.state == State::kDead || inside ? "waiting" : "affected";
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

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
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
  for (const auto& entry : host_of) {
    const std::int32_t rank = entry.first;
    const std::string& host = entry.second;
    auto same =
        std::find_if(hosts.begin(), hosts.end(), [&](const auto& known) { return known.first == host; });
    if (same == hosts.end()) same = hosts.insert(hosts.end(), {host, std::vector<std::int32_t>{}});
    same->second.push_back(rank);
  }
  std::vector<std::string> out;
  for (const auto& [host, ranks] : hosts) {
    const std::string label = ranks.size() == 1 ? "rank " : "ranks ";
    const std::string at_host = host.empty() ? "" : " (" + host + ")";
    out.push_back(label + fold_within(ranks, width - columns(label) - columns(at_host)) + at_host);
  }
  std::set<std::string> seen;
  for (const Subject& s : subjects) {
    if (is_plain_rank(s)) continue;
    std::string words = subject_words(s);
    if (seen.insert(words).second) out.push_back(std::move(words));
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

std::string common_folder(const model::Verdict& verdict, const model::Case* evidence) {
  std::vector<std::string_view> paths;
  for (const model::EvidenceItem& item : verdict.evidence) {
    if (!item.file.empty()) paths.push_back(item.file);
  }
  if (evidence != nullptr) {
    for (const model::Input& input : evidence->inputs) paths.push_back(input.path);
  }
  if (paths.empty()) return {};
  std::string_view common = paths.front();
  for (const std::string_view path : paths) {
    const auto end = std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  const std::size_t slash = common.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(common.substr(0, slash + 1));
}

std::string_view inside(std::string_view path, std::string_view folder) {
  return path.substr(0, folder.size()) == folder ? path.substr(folder.size()) : path;
}

std::string citation(const model::EvidenceItem& item, std::string_view folder, int path_width) {
  std::string out = item.file.empty() ? "(no file)" : cut_front(inside(item.file, folder), path_width);
  if (item.record) out += " record " + std::to_string(*item.record);
  if (item.line) out += " line " + std::to_string(*item.line);
  if (item.offset && !item.record && !item.line) out += " byte " + std::to_string(*item.offset);
  return out;
}

std::string culprits_within(const std::vector<Subject>& subjects, int width) {
  std::string all;
  for (const std::string& item : subjects_words(subjects, width)) all += (all.empty() ? "" : ", ") + item;
  if (columns(all) <= width) return all;
  std::vector<std::int32_t> ranks;
  std::vector<std::string> hosts, others;
  for (const Subject& s : subjects) {
    if (is_plain_rank(s)) {
      ranks.push_back(*s.rank);
    } else {
      others.push_back(subject_words(s));
    }
    if (!s.host.empty()) hosts.push_back(s.host);
  }
  if (ranks.empty()) return join_within(others, ", ", width);
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::string tail = hosts.empty() ? "" : " on " + counted(hosts.size(), "host", "hosts");
  if (!others.empty()) tail += " and " + counted(others.size(), "other", "others");
  return "ranks " + fold_within(ranks, std::max(width - 6 - columns(tail), 1)) + tail;
}

std::string headline_words(const model::Verdict& v) {
  if (!v.headline.empty()) return capitalised(v.headline);
  if (is_healthy(v)) return "Nothing wrong was found in what was read.";
  if (v.category == model::Category::kInconclusive)
    return "The evidence at hand does not decide what happened.";
  return capitalised(std::string(cause_title(v.cause)));
}

std::string impact_words(const model::Verdict& v) {
  const std::size_t count = v.blast_radius.ranks.size();
  std::string who = grouped(static_cast<std::int64_t>(count));
  if (v.expected_ranks > count) who += " of " + grouped(static_cast<std::int64_t>(v.expected_ranks));
  if (v.expected_ranks == count && count > 1) who = count == 2 ? "both" : "all " + who;
  return who + (std::max(count, v.expected_ranks) == 1 ? " rank " : " ranks ") + std::string(blast_verb(v));
}

std::vector<std::string> unseen_words(const model::Verdict& v, const model::Case* evidence, int width) {
  // Files set aside are counted below, from the case: there can be hundreds.
  std::vector<std::string> items;
  std::copy_if(v.not_seen.begin(), v.not_seen.end(), std::back_inserter(items), [&](const std::string& item) {
    return evidence == nullptr || evidence->set_aside.empty() || item.rfind("set aside: ", 0) != 0;
  });
  if (v.not_seen.empty()) {
    for (const model::CoverageLine& row : v.coverage) {
      const auto add = [&](std::string_view what, const std::vector<std::int32_t>& ranks) {
        if (ranks.empty()) return;
        items.push_back(std::string(what) + spaced(row.source) + " from " +
                        counted(ranks.size(), "rank", "ranks") + " (" + fold_within(ranks, width) + ")");
      };
      add("no ", row.absent);
      add("no readable ", row.unreadable);
      add("no complete ", row.partial);
    }
  }
  if (evidence == nullptr) return items;
  const auto bad =
      std::count_if(evidence->inputs.begin(), evidence->inputs.end(), [](const model::Input& input) {
        return std::any_of(input.problems.begin(), input.problems.end(), [](const model::ImportProblem& p) {
          return p.severity != model::Severity::kInfo;
        });
      });
  if (bad > 0)
    items.push_back(counted(static_cast<std::size_t>(bad), "file", "files") + " with problems (-v)");
  if (!evidence->set_aside.empty()) {
    items.push_back(counted(evidence->set_aside.size(), "file", "files") + " set aside (-v)");
  }
  return items;
}

bool is_healthy(const model::Verdict& verdict) {
  return verdict.category == model::Category::kHealthy;
}

std::string_view cause_title(std::string_view code) {
  const model::CauseInfo* info = model::find_cause(code);
  return info == nullptr ? code : info->title;
}

std::string reason_words(const model::RecoveryStep& step) {
  std::string reason = capitalised(step.why);
  if (step.command.empty() || reason.empty()) return reason;
  if (reason.back() == '.') reason.pop_back();
  if (reason.empty() || (reason.back() != '?' && reason.back() != ':')) reason += ':';
  return reason;
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
