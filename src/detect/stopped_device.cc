// SPDX-License-Identifier: Apache-2.0
//
// A rank whose host goes on enqueuing while its device finishes nothing: its oldest unfinished collective is
// one that its peers completed several operations ago. The number is what tells it from a watchdog that had
// not looked yet.
#include <algorithm>
#include <map>

#include "detect/detector.h"
#include "detect/wording.h"

namespace unhang::detect {

std::vector<Explanation> find_stopped_device(const Analysis& analysis) {
  const model::Case& joined = analysis.joined;
  struct Behind {
    model::GroupIndex group = 0;
    std::int64_t operations = 0;
    std::uint32_t head = 0;
  };
  std::map<model::RankIndex, Behind> behind;  // the group where the rank is furthest behind
  for (model::GroupIndex group = 0; group < analysis.groups.size(); ++group) {
    for (const MemberProgress& member : analysis.groups[group].members) {
      if (member.lag != Lag::kDeviceStopped) continue;
      Behind& worst = behind[member.rank];
      if (member.operations_behind > worst.operations)
        worst = {group, member.operations_behind, *member.head};
    }
  }
  if (behind.empty()) return {};
  Explanation explanation;
  explanation.category = model::Category::kProcessOrDeviceUnavailable;
  explanation.cause = "gpu_not_progressing";
  for (const auto& [rank, worst] : behind) {
    explanation.culprits.push_back(rank);
    explanation.evidence.push_back({rank, worst.head});
    explanation.why.push_back("its oldest unfinished operation is " +
                              operation_text(joined, joined.ranks[rank].operations[worst.head]) +
                              "; peers completed " + std::to_string(worst.operations) +
                              " operations of that group which it has not");
  }
  // Few operations in one group are weak; more, or the same in several ranks' groups, are not.
  const auto most = std::max_element(behind.begin(), behind.end(), [](const auto& a, const auto& b) {
    return a.second.operations < b.second.operations;
  });
  explanation.strength =
      most->second.operations > 2 * kStaleAtMost ? model::Confidence::kHigh : model::Confidence::kMedium;
  explanation.at = OperationRef{behind.begin()->first, behind.begin()->second.head};
  explanation.headline = "the " + std::string(plural(behind.size(), "device", "devices")) + " of " +
                         ranks_text(joined, explanation.culprits) + " finished nothing more while " +
                         plural(behind.size(), "its host", "their hosts") + " went on: peers are up to " +
                         std::to_string(most->second.operations) + " operations ahead";
  explanation.rules_out.push_back("a rank that did not enter: the operation is in its own list, enqueued");
  explanation.alternatives.push_back(
      {.category = model::Category::kProcessOrDeviceUnavailable,
       .cause = "gpu_xid",
       .speaks_for = {"a device that stops usually leaves an Xid in the kernel log"},
       .speaks_against = {joined.has_kernel_log ? "the kernel logs among the inputs show none"
                                                : "no kernel log was among the inputs"},
       .decide_by = "dmesg -T | grep -i xid on the host of " + ranks_text(joined, explanation.culprits)});
  return {std::move(explanation)};
}

}  // namespace unhang::detect
