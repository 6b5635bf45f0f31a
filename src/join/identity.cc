// SPDX-License-Identifier: Apache-2.0
#include "join/identity.h"

#include <algorithm>

#include "base/rank_set.h"
#include "join/dump_name.h"

namespace unhang::join {
namespace {

// The ranks that are members of all groups that the dump declares; empty when it declares none that can be
// read.
std::vector<std::int32_t> possible_ranks(const JoinedDump& joined, RankLists& lists,
                                         const model::Vocabulary& vocabulary) {
  std::vector<model::SymbolId> texts;
  for (const auto& group : joined.dump.declared_groups) {
    // gloo of torch 2.14 writes each group over the last one under an empty name: it proves nothing.
    if (vocabulary.text(group.name).empty()) continue;
    if (!lists.ranks(group.ranks_text).empty()) texts.push_back(group.ranks_text);
  }
  if (texts.empty()) return {};
  const auto smallest = *std::min_element(texts.begin(), texts.end(), [&](auto a, auto b) {
    return lists.ranks(a).size() < lists.ranks(b).size();
  });
  constexpr std::size_t kTooManyToTell = 4096;
  if (lists.ranks(smallest).size() > kTooManyToTell) return {};
  std::vector<std::int32_t> possible;
  for (const std::int32_t rank : lists.ranks(smallest)) {
    if (std::all_of(texts.begin(), texts.end(), [&](auto text) { return lists.contains(text, rank); })) {
      possible.push_back(rank);
    }
  }
  return possible;
}

void contradict(JoinedDump& joined, const std::vector<std::int32_t>& possible, model::Case& result) {
  const std::string named = std::to_string(*joined.rank);
  if (possible.size() == 1) {
    result.conflicts.push_back({joined.input, "the file name says rank " + named +
                                                  ", the groups in it say rank " +
                                                  std::to_string(possible.front()) + ": taken as rank " +
                                                  std::to_string(possible.front())});
    joined.rank = possible.front();
    return;
  }
  result.conflicts.push_back({joined.input, "the file name says rank " + named +
                                                ", but the groups in it have only ranks " +
                                                base::fold_ranks(possible) + ": its rank is not known"});
  joined.rank.reset();
}

}  // namespace

void identify(std::vector<JoinedDump>& dumps, RankLists& lists, model::Case& joined) {
  for (JoinedDump& dump : dumps) {
    const DumpName name = read_dump_name(joined.inputs[dump.input].path);
    dump.rank = name.rank;
    dump.host = name.host;
    const auto possible = possible_ranks(dump, lists, joined.vocabulary);
    if (possible.empty()) continue;
    if (!dump.rank) {
      if (possible.size() == 1) dump.rank = possible.front();
    } else if (std::find(possible.begin(), possible.end(), *dump.rank) == possible.end()) {
      contradict(dump, possible, joined);
    }
  }
  for (JoinedDump& dump : dumps) {
    if (!dump.rank)
      dump.set_aside = "nothing says which rank wrote it: name the file with its rank at the end";
  }
}

}  // namespace unhang::join
