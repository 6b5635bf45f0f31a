// SPDX-License-Identifier: Apache-2.0
#include "join/impossible_progress.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace unhang::join {
namespace {

using model::Operation;
using model::OpKind;
using model::SymbolId;

// One operation may be done on one device a moment before the watchdog of another notices.
constexpr std::int64_t kAhead = 2;

// How far one dump came in one group. -1: nothing.
struct Progress {
  std::size_t dump = 0;   // index
  std::size_t group = 0;  // of Dump::groups
  std::int64_t first = -1;
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
  std::int64_t joint = -1;  // completed, and of a kind that nobody completes before all members entered it
};
using Members = std::vector<Progress>;

bool needs_all(OpKind kind) {
  return kind == OpKind::kAllReduce || kind == OpKind::kAllGather || kind == OpKind::kReduceScatter ||
         kind == OpKind::kBarrier;
}

bool counts(const Operation& op) {
  return !op.has(Operation::kP2p) && !op.has(Operation::kInner) && op.collective_sequence >= 0;
}

std::vector<Progress> progress_of(const model::Dump& dump, std::size_t index,
                                  const model::Vocabulary& vocabulary) {
  std::vector<Progress> out(dump.groups.size());
  for (std::size_t g = 0; g < out.size(); ++g) out[g].dump = index, out[g].group = g;
  for (const Operation& op : dump.operations) {
    if (!counts(op) || op.group >= out.size()) continue;
    Progress& own = out[op.group];
    // In-order execution: what went before the oldest in the ring is done, or left out because it is.
    if (own.first < 0) own.first = op.collective_sequence, own.completed = op.collective_sequence - 1;
    own.enqueued = std::max(own.enqueued, op.collective_sequence);
    if (op.state != model::OpState::kCompleted) continue;
    own.completed = std::max(own.completed, op.collective_sequence);
    if (needs_all(vocabulary.signature(op.signature).kind))
      own.joint = std::max(own.joint, op.collective_sequence);
  }
  // What has left the ring counts as well. Where the status counts transfers too it says more than there
  // were collectives: then less looks impossible, never more.
  for (Progress& own : out) {
    for (const model::GroupStatus& status : dump.status) {
      if (own.first < 0 || status.pg_id < 0 || status.pg_id != dump.groups[own.group].pg_id) continue;
      own.enqueued = std::max(own.enqueued, status.last_enqueued);
      own.completed = std::max(own.completed, status.last_completed);
    }
  }
  return out;
}

// The ranks text that the dump declares a group of this name with; 0: none that names its rank.
SymbolId declared_ranks(const JoinedDump& dump, SymbolId name, RankLists& lists,
                        const model::Vocabulary& vocabulary) {
  if (vocabulary.text(name).empty()) return 0;
  for (const model::DeclaredGroup& group : dump.dump.declared_groups) {
    if (group.name == name && lists.contains(group.ranks_text, *dump.rank)) return group.ranks_text;
  }
  return 0;
}

std::map<std::pair<SymbolId, SymbolId>, Members> members_of_groups(const std::vector<JoinedDump>& dumps,
                                                                   RankLists& lists,
                                                                   const model::Vocabulary& vocabulary) {
  std::map<std::pair<SymbolId, SymbolId>, Members> out;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    const model::Dump& dump = dumps[i].dump;
    // Of a dump that was cut nobody knows how far it came.
    if (!dumps[i].kept() || !dump.complete || !dump.has_entries) continue;
    for (const Progress& own : progress_of(dump, i, vocabulary)) {
      const model::DumpGroup& group = dump.groups[own.group];
      if (own.first < 0 || vocabulary.text(group.backend) != "nccl") continue;
      const SymbolId ranks = declared_ranks(dumps[i], group.name, lists, vocabulary);
      if (ranks != 0) out[{group.name, ranks}].push_back(own);
    }
  }
  return out;
}

std::int64_t called_at(const Progress& own, std::int64_t sequence, const std::vector<JoinedDump>& dumps) {
  for (const Operation& op : dumps[own.dump].dump.operations) {
    if (op.group == own.group && counts(op) && op.collective_sequence == sequence) return op.created_ns;
  }
  return 0;
}

// Whether `odd` called the same operations at quite another time than the witnesses, or other operations
// altogether. A few witnesses are enough to see how far their clocks and calls lie apart.
bool at_other_times(const Progress& odd, const Members& witnesses, const std::vector<JoinedDump>& dumps) {
  constexpr std::size_t kLookedAt = 32;
  constexpr std::int64_t kMinute = 60ll * 1'000'000'000;
  const auto [least, most] =
      std::minmax_element(witnesses.begin(), witnesses.end(),
                          [](const auto& a, const auto& b) { return a.enqueued < b.enqueued; });
  if (odd.first > most->enqueued) return true;
  if (odd.first > least->enqueued) return false;
  const std::int64_t own = called_at(odd, least->enqueued, dumps);
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < std::min(witnesses.size(), kLookedAt); ++i) {
    const std::int64_t time = called_at(witnesses[i], least->enqueued, dumps);
    if (time > 0) times.push_back(time);
  }
  if (own <= 0 || times.size() < 2) return false;
  std::sort(times.begin(), times.end());
  // Times of damaged dumps may be anything: no arithmetic that could overflow.
  const double spread = static_cast<double>(times.back()) - static_cast<double>(times.front());
  const double distance = std::abs(static_cast<double>(own) - static_cast<double>(times[times.size() / 2]));
  return distance > std::max(10 * spread, static_cast<double>(kMinute));
}

// Most members have not even called what `odd` completed.
bool never_called(const Progress& odd, const Members& members, const std::vector<JoinedDump>& dumps) {
  Members witnesses;
  std::copy_if(members.begin(), members.end(), std::back_inserter(witnesses),
               [&](const Progress& other) { return other.enqueued <= odd.joint - kAhead; });
  return witnesses.size() >= 2 && witnesses.size() * 2 > members.size() &&
         at_other_times(odd, witnesses, dumps);
}

// The operation that more than half of the members completed last, to the number; -1: no such agreement.
// Members that still run are seldom at one number, those that stand are.
struct Standstill {
  std::int64_t completed = -1;
  std::size_t members = 0;
};

Standstill standstill_of(const std::vector<std::int64_t>& completed) {
  if (completed.empty()) return {};
  const std::int64_t middle = completed[completed.size() / 2];
  const auto [from, to] = std::equal_range(completed.begin(), completed.end(), middle);
  const auto count = static_cast<std::size_t>(to - from);
  return count >= 3 && count * 2 > completed.size() ? Standstill{middle, count} : Standstill{};
}

void judge(const Members& members, std::vector<JoinedDump>& dumps) {
  std::vector<std::int64_t> completed;
  for (const Progress& own : members) completed.push_back(own.completed);
  std::sort(completed.begin(), completed.end());
  const Standstill stand = standstill_of(completed);
  for (const Progress& own : members) {
    const std::int64_t least = own.joint - kAhead;
    if (least < 0 || !dumps[own.dump].kept() || completed.front() > least) continue;
    // `own` itself is one of those that are beyond.
    const auto beyond = static_cast<std::size_t>(
        completed.end() - std::upper_bound(completed.begin(), completed.end(), least) - 1);
    if (stand.members != 0 && stand.completed <= least && beyond * 4 <= stand.members) {
      dumps[own.dump].set_aside = "another run or moment: it completed operations that need all members, " +
                                  std::to_string(own.joint - stand.completed) + " more than " +
                                  std::to_string(stand.members) + " of them completed";
    } else if (never_called(own, members, dumps)) {
      dumps[own.dump].set_aside = "another run: it completed operations that the others have not called";
    }
  }
}

}  // namespace

void set_aside_impossible_progress(std::vector<JoinedDump>& dumps, RankLists& lists,
                                   const model::Vocabulary& vocabulary) {
  for (const auto& [group, members] : members_of_groups(dumps, lists, vocabulary)) {
    if (members.size() > 2) judge(members, dumps);
  }
}

}  // namespace unhang::join
