// SPDX-License-Identifier: Apache-2.0
//
// Everyone entered and nobody finished: the program did its part, the data does not move. The dumps can't say
// which link or device; for an all_to_all the sizes may tell that the splits don't fit.
#include <algorithm>
#include <map>
#include <utility>

#include "detect/detector.h"
#include "detect/stall_order.h"
#include "detect/stall_place.h"
#include "detect/wording.h"

namespace unhang::detect {
namespace {

using model::Operation;
using model::RankIndex;

class SymmetricStall {
 public:
  explicit SymmetricStall(const Analysis& analysis) : x_analysis(analysis), x_case(analysis.joined) {}

  std::vector<Explanation> find() {
    const Stall* stall = oldest();
    if (stall == nullptr) return {};
    Explanation explanation;
    explanation.at = place_of(x_analysis, *stall);
    explanation.evidence.push_back(*explanation.at);
    if (!split_mismatch(*stall, explanation)) {
      const bool certain = stall->transfer || members_certain(x_case, stall->group);
      certain ? explain_transport(*stall, explanation) : explain_uncertain(*stall, explanation);
      if (!stall->counted.empty()) doubt_counts(*stall, explanation);
    }
    return {std::move(explanation)};
  }

 private:
  // Ranks that wait for somebody else are explained by that; the oldest place where nobody is missing is
  // left. What a rank called after another open operation only queues behind that one.
  const Stall* oldest() const {
    const Stall* out = nullptr;
    bool out_queues = false;
    for (const Stall& stall : x_analysis.waits.stalls) {
      if (!stall.everyone_entered()) continue;
      const bool waits_elsewhere =
          std::any_of(stall.waiting.begin(), stall.waiting.end(),
                      [&](RankIndex rank) { return x_analysis.waits.ranks[rank].waits(); });
      if (waits_elsewhere) continue;
      const bool queues = queues_behind_another(x_analysis, stall);
      if (out == nullptr || std::pair(queues, stall.since_ns) < std::pair(out_queues, out->since_ns)) {
        out = &stall;
        out_queues = queues;
      }
    }
    return out;
  }

  const Operation& operation(const OperationRef& at) const {
    return x_case.ranks[at.rank].operations[at.operation];
  }

  // What all send must be what all receive. Split sizes are not in the dump, so equal sums prove nothing.
  bool split_mismatch(const Stall& stall, Explanation& explanation) const {
    if (stall.transfer || x_case.signature(operation(*explanation.at)).kind != model::OpKind::kAllToAll)
      return false;
    std::int64_t sent = 0;
    std::int64_t received = 0;
    std::map<std::int64_t, std::vector<RankIndex>> by_received;
    std::map<std::int64_t, std::vector<RankIndex>> by_sent;
    for (const MemberProgress& member : x_analysis.groups[stall.group].members) {
      if (!member.head) return false;
      const auto& signature = x_case.signature(x_case.ranks[member.rank].operations[*member.head]);
      const std::int64_t in = model::total_elements(x_case.vocabulary.shapes.encoded(signature.input_shapes));
      const std::int64_t out =
          model::total_elements(x_case.vocabulary.shapes.encoded(signature.output_shapes));
      if (__builtin_add_overflow(sent, in, &sent) || __builtin_add_overflow(received, out, &received))
        return false;
      by_sent[in].push_back(member.rank);
      by_received[out].push_back(member.rank);
    }
    if (sent == received) return false;
    explanation.category = model::Category::kCollectiveDesync;
    explanation.cause = "split_mismatch";
    // Where all but a few send (or expect) the same, those few stand out; with routed tokens nobody does.
    for (const auto& sides : {by_received, by_sent}) {
      const auto most = std::max_element(sides.begin(), sides.end(),
                                         [](auto& a, auto& b) { return a.second.size() < b.second.size(); });
      if (most->second.size() * 2 <= x_analysis.groups[stall.group].members.size() || sides.size() < 2)
        continue;
      for (const auto& [size, ranks] : sides) {
        if (size != most->first)
          explanation.culprits.insert(explanation.culprits.end(), ranks.begin(), ranks.end());
      }
      break;
    }
    std::sort(explanation.culprits.begin(), explanation.culprits.end());
    if (explanation.culprits.empty()) explanation.suspects = stall.waiting;
    explanation.strength =
        explanation.culprits.empty() ? model::Confidence::kLow : model::Confidence::kMedium;
    explanation.headline = "in " + operation_text(x_case, operation(*explanation.at)) + " the members send " +
                           std::to_string(sent) + " elements in all and expect " + std::to_string(received);
    explanation.why.push_back("its split sizes do not fit those of the others");
    explanation.rules_out.push_back("a missing rank: everyone entered");
    return true;
  }

  // Whoever left no dump launched as much as the others, or gave up on the same; whether it called the same,
  // and whether its device came so far, counts do not show.
  void doubt_counts(const Stall& stall, Explanation& explanation) const {
    explanation.strength = model::Confidence::kLow;
    explanation.rules_out.clear();
    const std::string who = ranks_text(x_case, stall.counted);
    explanation.headline += "; that " + who + " entered, too, no dump shows, but counts or a watchdog";
    explanation.alternatives.push_back(
        {.category = model::Category::kCollectiveDesync,
         .cause = "op_mismatch",
         .speaks_for = {who + plural(stall.counted.size(), " left no dump", " left no dumps") +
                        ": what was called there, and in which order, is not known"},
         .speaks_against = {plural(stall.counted.size(), "it", "they") +
                            std::string(" launched as much as the others, or gave up on the same")},
         .decide_by = "find the dump of " + who + " on its host, then diagnose again"});
  }

  // All who recorded something in the group stand in it, but who else should have is not known: ranks without
  // a dump first, then those that are idle.
  void explain_uncertain(const Stall& stall, Explanation& explanation) const {
    const auto& members = x_case.groups[stall.group].members;
    std::vector<RankIndex> silent;
    std::vector<RankIndex> idle;
    for (RankIndex index = 0; index < x_case.ranks.size(); ++index) {
      if (std::find(members.begin(), members.end(), index) != members.end()) continue;
      const RankWaits& waits = x_analysis.waits.ranks[index];
      if (!x_case.ranks[index].tail_known)
        silent.push_back(index);
      else if (!waits.waits() && !waits.stands())
        idle.push_back(index);
    }
    const auto& candidates = silent.empty() ? idle : silent;
    const std::string place = operation_text(x_case, operation(*explanation.at));
    explanation.strength = model::Confidence::kLow;
    explanation.cause = "unknown";
    explanation.category = model::Category::kInconclusive;
    explanation.headline = ranks_text(x_case, stall.waiting) +
                           plural(stall.waiting.size(), " stands in ", " stand in ") + place +
                           "; who else belongs to that group is not recorded";
    explanation.alternatives.push_back({.category = model::Category::kTransportStall,
                                        .cause = "unknown",
                                        .speaks_for = {"if these are all its members, everyone entered"},
                                        .speaks_against = {},
                                        .decide_by = "which ranks did the program put into the group?"});
    if (candidates.size() == 1) {
      explanation.category =
          silent.empty() ? model::Category::kCollectiveDesync : model::Category::kProcessOrDeviceUnavailable;
      explanation.cause = silent.empty() ? "rank_not_entered" : "rank_silent";
      explanation.culprits = candidates;
      explanation.headline += "; " + ranks_text(x_case, candidates) +
                              (silent.empty() ? " has nothing open" : " left no usable dump");
      explanation.why.push_back(silent.empty() ? "the only rank that has nothing open"
                                               : "the only rank without a usable dump");
    } else if (!candidates.empty()) {
      explanation.suspects = candidates;
    } else {
      explanation.category = model::Category::kTransportStall;
    }
  }

  void explain_transport(const Stall& stall, Explanation& explanation) const {
    const Operation& op = operation(*explanation.at);
    explanation.category = model::Category::kTransportStall;
    explanation.cause = "unknown";
    explanation.strength = model::Confidence::kMedium;
    const std::size_t members = stall.transfer ? 2 : x_case.groups[stall.group].members.size();
    std::size_t through = 0;  // some may end early: the root of a broadcast
    if (!stall.transfer) {
      for (const MemberProgress& member : x_analysis.groups[stall.group].members) {
        through += member.completed.value_or(-1) >= stall.sequence ? 1 : 0;
      }
    }
    explanation.headline =
        (stall.transfer ? std::string("both ends") : "all " + std::to_string(members) + " members") +
        " entered " + operation_text(x_case, op) +
        (through == 0 ? " and nobody finished it: the data does not move"
                      : ", and " + std::to_string(members - through) + " of them do not get out of it");
    explanation.rules_out = {"a missing rank: everyone entered", "a mismatching call: all calls fit"};
    if (stall.transfer && !x_analysis.transfers[*stall.transfer].peer_pending) doubt_match(explanation);
    if (op.state == model::OpState::kScheduled && op.started_ns == 0) {
      explanation.alternatives.push_back({.category = model::Category::kProcessOrDeviceUnavailable,
                                          .cause = "gpu_not_progressing",
                                          .speaks_for = {"the dumps don't say whether the kernels started"},
                                          .speaks_against = {},
                                          .decide_by = "TORCH_NCCL_ENABLE_TIMING=1 shows per rank whether "
                                                       "its kernel runs; nvidia-smi and dmesg -T now"});
    }
    if (x_case.signature(op).kind == model::OpKind::kAllToAll) {
      explanation.alternatives.push_back(
          {.category = model::Category::kCollectiveDesync,
           .cause = "split_mismatch",
           .speaks_for = {"split sizes are not in the dump, and this is an all_to_all"},
           .speaks_against = {"what all send is what all expect, in sum"},
           .decide_by = "log input_split_sizes and output_split_sizes of each rank before the call"});
    }
  }

  // The other end has nothing open: by the times of the calls the two belong together, but then one end of a
  // transfer would be finished and the other not. Its real partner may be missing.
  void doubt_match(Explanation& explanation) const {
    explanation.strength = model::Confidence::kLow;
    explanation.rules_out.clear();
    explanation.headline =
        ranks_text(x_case, {explanation.at->rank}) + " stands in " +
        operation_text(x_case, operation(*explanation.at)) +
        ", and the other end has nothing open: the data does not move, or its partner never came";
    explanation.alternatives.push_back(
        {.category = model::Category::kCollectiveDesync,
         .cause = "p2p_unmatched",
         .speaks_for = {"the other end has nothing open"},
         .speaks_against = {"its newest call is as new as this one"},
         .decide_by = "count the calls between the two since the start of a step"});
  }

  const Analysis& x_analysis;
  const model::Case& x_case;
};

}  // namespace

std::vector<Explanation> find_symmetric_stall(const Analysis& analysis) {
  return SymmetricStall(analysis).find();
}

}  // namespace unhang::detect
