// SPDX-License-Identifier: Apache-2.0
#include "detect/ras_analysis.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace unhang::detect {
namespace {

using model::RasCommunicator;
using model::RasView;

// The groups of the dumps by their members.
class GroupsByMembers {
 public:
  explicit GroupsByMembers(const model::Case& joined) : x_case(joined) {
    for (model::GroupIndex group = 0; group < joined.groups.size(); ++group) {
      std::vector<model::RankIndex> members = joined.groups[group].members;
      std::sort(members.begin(), members.end());
      x_groups[std::move(members)].push_back(group);
    }
  }

  // Those that have just the members of the communicator; none where not all of them are known.
  std::vector<model::GroupIndex> of(const RasCommunicator& communicator) const {
    std::vector<model::RankIndex> members;
    for (const model::RasRank& rank : communicator.ranks) {
      const auto index = case_rank(x_case, rank);
      if (!index) return {};
      members.push_back(*index);
    }
    if (members.empty() || std::cmp_not_equal(members.size(), communicator.size)) return {};
    std::sort(members.begin(), members.end());
    const auto found = x_groups.find(members);
    return found == x_groups.end() ? std::vector<model::GroupIndex>() : found->second;
  }

 private:
  const model::Case& x_case;
  std::map<std::vector<model::RankIndex>, std::vector<model::GroupIndex>> x_groups;
};

// Of two groups with these members it is not known which is meant.
std::string label_of(const model::Case& joined, const RasCommunicator& communicator,
                     const std::vector<model::GroupIndex>& groups) {
  const std::string size =
      communicator.size >= 0 ? " (" + std::to_string(communicator.size) + " ranks)" : std::string();
  const std::string name = "communicator " + model::hash_text(communicator.hash) + size;
  return groups.size() == 1 ? joined.group_label(groups.front()) + ", " + name : name;
}

}  // namespace

RasAnalysis analyse_ras(const model::Case& joined, std::optional<bool> work_in_flight) {
  RasAnalysis out;
  out.work_in_flight = work_in_flight;
  const std::vector<RasView>& views = joined.ras.views;
  if (views.empty()) return out;
  out.latest = &views.back();
  out.one_view = views.size() == 1;
  const bool timed =
      std::all_of(views.begin(), views.end(), [](const RasView& view) { return view.time_ns.has_value(); });
  if (timed && !out.one_view) out.watched_ns = *views.back().time_ns - *views.front().time_ns;
  RasProgress progress;
  std::int64_t order = 0;
  // Without times only the order is known: growth shows, but nothing can be said to have stood for long.
  if (!out.one_view)
    for (const RasView& view : views) progress.observe(view, timed ? *view.time_ns : ++order);
  std::vector<RasCommunicatorProgress> states = progress.state(work_in_flight);
  const GroupsByMembers groups(joined);
  for (const RasCommunicator& communicator : out.latest->communicators) {
    RasCommunicatorState state;
    state.communicator = &communicator;
    // The histories are in the order of the hashes, too.
    const auto known =
        std::lower_bound(states.begin(), states.end(), communicator, [](const auto& s, const auto& c) {
          return std::tie(s.hash, s.secondary_hash) < std::tie(c.hash, c.secondary_hash);
        });
    if (known != states.end() && known->hash == communicator.hash) state.progress = std::move(*known);
    state.skew = out.one_view ? skew_of(communicator) : state.progress.skew;
    if (out.one_view) state.progress.why = "only one answer shows it: ask again";
    state.groups = groups.of(communicator);
    state.label = label_of(joined, communicator, state.groups);
    state.moving =
        state.progress.movement == Movement::kAdvancing || state.progress.movement == Movement::kLagging;
    state.stands = state.progress.movement == Movement::kFrozen;
    out.communicators.push_back(std::move(state));
  }
  return out;
}

std::optional<model::RankIndex> case_rank(const model::Case& joined, const model::RasRank& rank) {
  if (rank.global_rank < 0) return {};
  return joined.find_rank(rank.global_rank);
}

model::EvidenceItem cite_communicator(const model::Case& joined, const RasAnalysis& ras,
                                      const RasCommunicator& communicator, std::string text) {
  model::EvidenceItem item;
  if (!ras.latest->sources.empty()) item.file = joined.inputs[ras.latest->sources.front()].path;
  if (communicator.line > 0) item.line = static_cast<std::int64_t>(communicator.line);
  item.text = "communicator " + model::hash_text(communicator.hash) + ": " + std::move(text);
  return item;
}

model::Subject subject_in_communicator(const RasCommunicatorState& state, const model::RasRank& rank,
                                       std::string why) {
  model::Subject subject;
  subject.group = state.label;
  subject.group_rank = rank.rank;
  subject.host = rank.host;
  if (rank.pid >= 0) subject.pid = rank.pid;
  if (rank.cuda_device >= 0) subject.gpu = std::to_string(rank.cuda_device);
  subject.why = std::move(why);
  return subject;
}

}  // namespace unhang::detect
