// SPDX-License-Identifier: Apache-2.0
#include "join/same_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/rank_set.h"
#include "join/impossible_progress.h"
#include "join/other_folder.h"

namespace unhang::join {
namespace {

using model::SymbolId;
using Dumps = std::vector<JoinedDump>;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;

std::string duration_text(std::int64_t ns) {
  const std::int64_t seconds = ns / kSecond;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 2 * 3600) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " days";
}

// Another set of ranks: another job.
void set_aside_other_worlds(Dumps& dumps, RankLists& lists, const model::Vocabulary& vocabulary) {
  std::map<SymbolId, std::pair<std::size_t, std::int64_t>> worlds;  // count, newest operation
  for (const JoinedDump& dump : dumps) {
    const SymbolId world = dump.kept() ? world_text(vocabulary, dump.dump) : 0;
    if (world == 0) continue;
    auto& [count, newest] = worlds[world];
    ++count;
    newest = std::max(newest, dump.last_ns());
  }
  if (worlds.size() < 2) return;
  const auto job = std::max_element(worlds.begin(), worlds.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first;
  for (JoinedDump& dump : dumps) {
    const SymbolId world = dump.kept() ? world_text(vocabulary, dump.dump) : 0;
    if (world == 0 || world == job) continue;
    dump.set_aside = "another job: its ranks are " + base::fold_ranks(lists.ranks(world)) +
                     ", those of the other dumps " + base::fold_ranks(lists.ranks(job));
  }
}

// The same ranks, but groups that no other member knows: another job of the same size.
void set_aside_other_groups(Dumps& dumps, RankLists& lists, const model::Vocabulary& vocabulary) {
  std::map<std::tuple<SymbolId, SymbolId>, std::size_t> declared_by;  // (name, ranks) -> dumps
  std::set<std::int32_t> present;
  for (const JoinedDump& dump : dumps) {
    if (!dump.kept()) continue;
    present.insert(*dump.rank);
    for (const auto& group : dump.dump.declared_groups) ++declared_by[{group.name, group.ranks_text}];
  }
  // Members of each group that left a dump, counted once per distinct list.
  std::map<SymbolId, std::size_t> members_present;
  for (const auto& [key, count] : declared_by) {
    auto [at, is_new] = members_present.try_emplace(std::get<1>(key), 0);
    if (!is_new) continue;
    for (const std::int32_t rank : lists.ranks(at->first)) at->second += present.count(rank);
  }
  for (JoinedDump& dump : dumps) {
    if (!dump.kept()) continue;
    std::size_t shared = 0;
    std::size_t strange = 0;
    for (const auto& group : dump.dump.declared_groups) {
      if (vocabulary.text(group.name).empty() || is_world(vocabulary, group.name, group.description))
        continue;
      const std::size_t members = members_present[group.ranks_text];
      if (members < 3) continue;  // of two, nobody is the majority
      const std::size_t knowing = declared_by[{group.name, group.ranks_text}];
      (knowing * 2 >= members ? shared : strange) += 1;
    }
    if (strange > shared) dump.set_aside = "another job: it names process groups that no other dump knows";
  }
}

std::int64_t longest_timeout(const Dumps& dumps) {
  std::int64_t longest = 0;
  for (const JoinedDump& dump : dumps) {
    for (const auto& op : dump.dump.operations) longest = std::max<std::int64_t>(longest, op.timeout_ms);
  }
  return longest * 1'000'000;
}

// Times far apart. Nobody can be further behind than the time-out of the operation that the others wait in; a
// day is taken as the longest sensible limit, so that a silly time-out in one entry cannot switch this off.
void set_aside_other_times(Dumps& dumps) {
  std::vector<std::size_t> timed;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    if (dumps[i].kept() && dumps[i].last_ns() > 0) timed.push_back(i);
  }
  if (timed.size() < 2) return;
  const std::int64_t most = 24 * 60 * kMinute;
  const std::int64_t gap = std::min(most, longest_timeout(dumps) + longest_timeout(dumps) / 2) + 10 * kMinute;
  std::sort(timed.begin(), timed.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(dumps[a].last_ns(), a) < std::tuple(dumps[b].last_ns(), b);
  });
  // Runs: stretches of dumps without a gap. The largest is the job; of equals the newest.
  std::vector<std::vector<std::size_t>> runs(1);
  for (std::size_t k = 0; k < timed.size(); ++k) {
    if (k > 0 && dumps[timed[k]].last_ns() - dumps[timed[k - 1]].last_ns() > gap) runs.emplace_back();
    runs.back().push_back(timed[k]);
  }
  std::size_t job = 0;
  for (std::size_t r = 1; r < runs.size(); ++r) {
    if (runs[r].size() >= runs[job].size()) job = r;
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (r == job) continue;
    const std::int64_t distance = r < job
                                      ? dumps[runs[job].front()].last_ns() - dumps[runs[r].back()].last_ns()
                                      : dumps[runs[r].front()].last_ns() - dumps[runs[job].back()].last_ns();
    for (const std::size_t i : runs[r]) {
      dumps[i].set_aside = std::string("another run: its last operation is ") + duration_text(distance) +
                           (r < job ? " before" : " after") + " those of the other dumps";
    }
  }
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A dump whose last operation lies before the others' programs even started: left over from the start before.
void set_aside_earlier_starts(Dumps& dumps) {
  std::vector<std::int64_t> starts;
  for (const JoinedDump& dump : dumps) {
    if (!dump.kept() || dump.dump.operations.empty()) continue;
    if (dump.dump.operations.front().record_id == 0) starts.push_back(dump.first_ns());
  }
  if (starts.size() < 2) return;
  const std::int64_t start = median(starts);
  const auto is_earlier = [&](const JoinedDump& dump) {
    return dump.kept() && dump.last_ns() != 0 && dump.last_ns() + kMinute < start;
  };
  // Most of them cannot be left over from before: then the times are wrong, not the dumps.
  const auto earlier = std::count_if(dumps.begin(), dumps.end(), is_earlier);
  const auto kept =
      std::count_if(dumps.begin(), dumps.end(), [](const JoinedDump& dump) { return dump.kept(); });
  if (earlier * 2 >= kept) return;
  for (JoinedDump& dump : dumps) {
    if (!is_earlier(dump)) continue;
    dump.set_aside = "an earlier start of the job: its last operation is " +
                     duration_text(start - dump.last_ns()) + " before the other dumps' first";
  }
}

// Equal when both stand for the same moment of the same process, whatever the form.
auto moment(const JoinedDump& dump) {
  const auto& ops = dump.dump.operations;
  return std::tuple(ops.size(), ops.empty() ? -1 : ops.front().record_id,
                    ops.empty() ? -1 : ops.back().record_id, dump.last_ns());
}

// Better first: complete, with operations, newest, with stacks (pickle), then by path.
bool better(const JoinedDump& a, const JoinedDump& b) {
  const auto key = [](const JoinedDump& d) {
    return std::tuple(d.dump.complete, d.dump.has_entries, d.last_ns(), !d.dump.is_json);
  };
  if (key(a) != key(b)) return key(a) > key(b);
  return a.input < b.input;
}

void set_aside_second_dumps(Dumps& dumps, const model::Case& joined) {
  std::map<std::int32_t, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    if (dumps[i].kept()) by_rank[*dumps[i].rank].push_back(i);
  }
  std::vector<std::int64_t> chosen_times;
  std::vector<std::int64_t> dropped_times;
  for (auto& [rank, indices] : by_rank) {
    if (indices.size() < 2) continue;
    std::sort(indices.begin(), indices.end(),
              [&](std::size_t a, std::size_t b) { return better(dumps[a], dumps[b]); });
    const JoinedDump& chosen = dumps[indices.front()];
    const std::string& path = joined.inputs[chosen.input].path;
    chosen_times.push_back(chosen.last_ns());
    for (std::size_t k = 1; k < indices.size(); ++k) {
      JoinedDump& other = dumps[indices[k]];
      other.is_second = same_process(chosen, other);
      if (moment(other) == moment(chosen)) {
        other.set_aside = "the same dump of rank " + std::to_string(rank) + " as " + path;
        continue;
      }
      dropped_times.push_back(other.last_ns());
      other.set_aside = "a second dump of rank " + std::to_string(rank) + ": " + path + " is " +
                        (chosen.dump.complete && !other.dump.complete ? "complete" : "newer");
    }
  }
  // When the others' older dumps were dropped, a rank with one dump from the older time has none of this run.
  if (dropped_times.size() * 2 < by_rank.size()) return;
  const std::int64_t now = median(chosen_times);
  const std::int64_t then = median(dropped_times);
  for (auto& [rank, indices] : by_rank) {
    JoinedDump& only = dumps[indices.front()];
    if (indices.size() != 1 || only.last_ns() == 0 || now - then < kMinute) continue;
    if (std::abs(only.last_ns() - then) < std::abs(now - only.last_ns())) {
      only.set_aside =
          "an earlier start of the job: rank " + std::to_string(rank) + " left no dump of this one";
    }
  }
}

}  // namespace

void set_aside_strangers(Dumps& dumps, RankLists& lists, const model::Case& joined) {
  set_aside_other_worlds(dumps, lists, joined.vocabulary);
  set_aside_other_groups(dumps, lists, joined.vocabulary);
  set_aside_other_times(dumps);
  set_aside_earlier_starts(dumps);
  set_aside_other_folders(dumps, joined);
  set_aside_second_dumps(dumps, joined);
  set_aside_impossible_progress(dumps, lists, joined.vocabulary);
}

}  // namespace unhang::join
