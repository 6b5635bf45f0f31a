// SPDX-License-Identifier: Apache-2.0
#include "join/joined_dump.h"

#include <algorithm>

namespace unhang::join {
bool same_process(const JoinedDump& chosen, const JoinedDump& other) {
  const auto& ops = chosen.dump.operations;
  for (const auto& theirs : other.dump.operations) {
    const auto at =
        std::lower_bound(ops.begin(), ops.end(), theirs.record_id,
                         [](const auto& op, std::int64_t wanted) { return op.record_id < wanted; });
    if (at != ops.end() && at->record_id == theirs.record_id) return at->created_ns == theirs.created_ns;
  }
  return true;
}

const RankLists::List& RankLists::list(model::SymbolId text) {
  const auto found = x_lists.find(text);
  if (found != x_lists.end()) return found->second;
  List list;
  list.in_order = model::parse_rank_list(x_vocabulary.text(text)).value_or(std::vector<std::int32_t>{});
  list.sorted = list.in_order;
  std::sort(list.sorted.begin(), list.sorted.end());
  if (std::adjacent_find(list.sorted.begin(), list.sorted.end()) != list.sorted.end())
    list = List{};  // damaged
  return x_lists.emplace(text, std::move(list)).first->second;
}

const std::vector<std::int32_t>& RankLists::ranks(model::SymbolId text) {
  return list(text).in_order;
}

bool RankLists::contains(model::SymbolId text, std::int32_t rank) {
  const auto& sorted = list(text).sorted;
  return std::binary_search(sorted.begin(), sorted.end(), rank);
}

bool is_world(const model::Vocabulary& vocabulary, model::SymbolId name, model::SymbolId description) {
  return vocabulary.text(description) == "default_pg" || (vocabulary.text(name) == "0" && description == 0) ||
         vocabulary.text(name) == "default_pg";
}

model::SymbolId world_text(const model::Vocabulary& vocabulary, const model::Dump& dump) {
  for (const auto& group : dump.declared_groups) {
    if (is_world(vocabulary, group.name, group.description)) return group.ranks_text;
  }
  return 0;
}

}  // namespace unhang::join
