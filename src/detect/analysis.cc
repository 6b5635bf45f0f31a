// SPDX-License-Identifier: Apache-2.0
#include "detect/analysis.h"

namespace unhang::detect {

Analysis analyse(const model::Case& joined) {
  Analysis out{.joined = joined, .groups = {}, .transfers = {}, .waits = {}};
  out.groups.reserve(joined.groups.size());
  for (model::GroupIndex group = 0; group < joined.groups.size(); ++group)
    out.groups.push_back(trace_group(joined, group));
  out.transfers = pending_transfers(joined);
  out.waits = build_wait_graph(joined, out.groups, out.transfers);
  return out;
}

}  // namespace unhang::detect
