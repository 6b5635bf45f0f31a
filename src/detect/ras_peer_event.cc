// SPDX-License-Identifier: Apache-2.0
//
// Deaths that a MONITOR stream of RAS told. It tells of few: only neighbours of a process see its trouble,
// and everybody only hears of its death, a minute later.
#include <algorithm>
#include <map>
#include <utility>

#include "detect/detector.h"
#include "detect/ras_naming.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using Process = std::pair<std::string, std::int64_t>;
using Event = model::RasEvidence::Event;

bool is_death(std::string_view event) {
  return event == "PEER_DEAD" || event == "PEER_TIMEOUT_DEAD";
}

bool is_life(std::string_view event) {
  return event == "PEER_RECOVERED" || event == "PEER_CONNECTED" || event == "PEER_NEW";
}

bool is_trouble(std::string_view event) {
  return event == "PEER_UNRESPONSIVE" || event == "PEER_KEEPALIVE_TIMEOUT" || event == "PEER_INIT_TIMEOUT" ||
         event == "PEER_SEND_STUCK";
}

std::optional<model::RankIndex> rank_of(const model::Case& joined, const Process& process) {
  for (model::RankIndex index = 0; index < joined.ranks.size(); ++index) {
    const model::Rank& rank = joined.ranks[index];
    if (rank.pid == process.second && rank.host == process.first && rank.pid >= 0) return index;
  }
  return {};
}

model::Subject subject_of(const Process& process, std::string why) {
  model::Subject subject;
  subject.kind = model::SubjectKind::kProcess;
  subject.host = process.first;
  subject.pid = process.second;
  subject.why = std::move(why);
  return subject;
}

}  // namespace

std::vector<Explanation> find_ras_peer_event(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  std::map<Process, const Event*> dead, troubled;
  for (const Event& event : joined.ras.events) {
    const Process process(event.event.host, event.event.pid);
    if (event.event.pid < 0) continue;
    // Death is for ever: who goes on after it is not taken back.
    if (is_death(event.event.event)) dead.emplace(process, &event);
    if (is_trouble(event.event.event)) troubled.emplace(process, &event);
    if (is_life(event.event.event)) troubled.erase(process);
  }
  for (const auto& entry : dead) troubled.erase(entry.first);
  if (dead.empty() && troubled.empty()) return {};
  Explanation explanation;
  explanation.category =
      dead.empty() ? model::Category::kInconclusive : model::Category::kProcessOrDeviceUnavailable;
  explanation.cause = dead.empty() ? "unknown" : "rank_silent";
  explanation.state = dead.empty() ? model::State::kUnknown : model::State::kDead;
  explanation.strength = dead.empty() ? model::Confidence::kLow : model::Confidence::kMedium;
  explanation.tentative = dead.empty();
  std::string names;
  const auto& told = dead.empty() ? troubled : dead;
  for (const auto& [process, event] : told) {
    const std::string why = event->event.event + " at " + event->event.timestamp;
    const auto rank = rank_of(joined, process);
    if (rank && !dead.empty()) {
      explanation.culprits.push_back(*rank);
      explanation.why.push_back(why);
    } else {
      (dead.empty() ? explanation.other_suspects : explanation.other_culprits)
          .push_back(subject_of(process, why));
    }
    names += (names.empty() ? "" : ", ") + std::to_string(process.second) + " on " + process.first;
    model::EvidenceItem item;
    item.file = joined.inputs[event->input].path;
    if (event->event.line > 0) item.line = static_cast<std::int64_t>(event->event.line);
    item.text = event->event.event + " of process " + std::to_string(process.second) + " on " + process.first;
    explanation.records.push_back(std::move(item));
  }
  explanation.headline =
      std::string(plural(told.size(), "process ", "processes ")) + names +
      (dead.empty() ? plural(told.size(), " gave", " gave") + std::string(" no answer to its neighbours")
                    : plural(told.size(), " was", " were") + std::string(" declared dead by RAS"));
  return {std::move(explanation)};
}

}  // namespace unhang::detect
