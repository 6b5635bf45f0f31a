// SPDX-License-Identifier: Apache-2.0
#include "detect/analysis.h"

#include <algorithm>

#include "detect/ras_entered.h"
#include "detect/watchdog_entered.h"

namespace unhang::detect {

Analysis analyse(const model::Case& joined) {
  Analysis out{.joined = joined,
               .groups = {},
               .transfers = {},
               .waits = {},
               .ras = {},
               .engines = {},
               .logs = {},
               .names = {}};
  out.groups.reserve(joined.groups.size());
  for (model::GroupIndex group = 0; group < joined.groups.size(); ++group)
    out.groups.push_back(trace_group(joined, group));
  out.transfers = pending_transfers(joined);
  out.waits = build_wait_graph(joined, out.groups, out.transfers);
  out.engines = judge_engines(joined);
  // An operation that stands in a dump is work that waits to be done, and so is a request that runs.
  out.ras = analyse_ras(joined, out.waits.stalls.empty() ? engine_work(out.engines) : true);
  complete_by_ras(out.ras, joined, out.waits);
  out.logs = analyse_logs(joined);
  complete_by_watchdogs(out.logs, joined, out.waits);
  out.names = RankNames(joined);
  return out;
}

bool members_certain(const model::Case& joined, model::GroupIndex index) {
  const model::Group& group = joined.groups[index];
  return group.membership == model::Membership::kDeclared || group.members.size() == joined.ranks.size();
}

bool hides_transfers(const model::Case& joined) {
  std::vector<bool> gloo(joined.groups.size());
  std::transform(joined.groups.begin(), joined.groups.end(), gloo.begin(),
                 [&](const model::Group& group) { return joined.is_gloo(group); });
  if (std::find(gloo.begin(), gloo.end(), true) == gloo.end())
    return false;  // no need to walk all operations
  for (const model::Rank& rank : joined.ranks) {
    for (const model::Operation& op : rank.operations) {
      if (gloo[op.group] && op.op_id > op.collective_sequence && op.collective_sequence >= 0) return true;
    }
  }
  return false;
}

}  // namespace unhang::detect
