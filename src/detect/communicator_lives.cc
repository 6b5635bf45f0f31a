// SPDX-License-Identifier: Apache-2.0
#include "detect/communicator_lives.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

namespace unhang::detect {
namespace {

using model::CommunicatorPhase;
using model::LogClock;
using model::LogCommunicator;
using model::LogTime;

constexpr std::uint32_t kNobody = UINT32_MAX;

// A process: two hosts, and two writers of which nothing is known, never are the same.
using Process = std::tuple<std::string, std::int64_t, std::uint32_t>;

Process process_of(const model::Log& log, const LogCommunicator& communicator) {
  const model::LogOrigin& origin = log.origins[communicator.origin];
  if (origin.pid >= 0) return {origin.host, origin.pid, 0};
  return {origin.host, -1, communicator.origin + 1};
}

bool was_complete(const LogCommunicator& c) {
  return c.completed || c.phase == CommunicatorPhase::kComplete || c.phase == CommunicatorPhase::kInUse;
}

// One life that two files tell (a rank's own log beside the log of all) is one member: the fuller story.
bool tells_more(const LogCommunicator& a, const LogCommunicator& b) {
  return std::tuple(was_complete(a), a.phase, a.last_line) >
         std::tuple(was_complete(b), b.phase, b.last_line);
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%" PRIx64, value);
  return text.data();
}

std::string ordinal(std::uint32_t number) {
  const std::uint32_t tens = number % 100;
  const bool teen = tens >= 11 && tens <= 13;
  const char* ending = teen               ? "th"
                       : number % 10 == 1 ? "st"
                       : number % 10 == 2 ? "nd"
                       : number % 10 == 3 ? "rd"
                                          : "th";
  return std::to_string(number) + ending;
}

// What members of one communicator have in common, as far as lines say it.
struct Key {
  std::optional<std::uint64_t> id;
  std::uint32_t parent_set = kNobody;  // of a split without an id
  std::optional<std::int64_t> split, color;
  std::int32_t size = -1;  // not of those with an id: ranks that disagree on it are one communicator
  std::uint32_t run = 0;
  auto operator<=>(const Key&) const = default;
};

class Grouping {
 public:
  explicit Grouping(const model::Log& log) : x_log(log) {}
  std::vector<CommunicatorSet> sets() {
    for (std::uint32_t i = 0; i < x_log.communicators.size(); ++i) {
      if (x_log.communicators[i].origin < x_log.origins.size()) place(i);
    }
    collect_rank_logs();
    for (CommunicatorSet& set : x_sets) finish(set);
    return std::move(x_sets);
  }

 private:
  void place(std::uint32_t index) {
    const LogCommunicator& c = x_log.communicators[index];
    const Process process = process_of(x_log, c);
    if (joins_a_known_life(index, process)) return;
    const std::uint32_t set = set_for(key_of(c, process), c);
    x_sets[set].members.push_back(index);
    x_sets[set].size = std::max(x_sets[set].size, c.ranks);
    if (c.pointer != 0) x_set_of_pointer[{process, c.pointer}] = set;
  }

  // The same process, pointer and rank in another file: the k-th there is the k-th here.
  bool joins_a_known_life(std::uint32_t index, const Process& process) {
    const LogCommunicator& c = x_log.communicators[index];
    if (std::get<1>(process) < 0 || std::get<0>(process).empty() || c.pointer == 0) return false;
    const Life life(process, c.pointer, c.rank, c.id);
    const std::uint32_t nth = x_lives_in_input[{life, c.input}]++;
    const auto [known, is_new] = x_lives.emplace(std::pair(life, nth), index);
    if (is_new) return false;
    std::uint32_t& best = x_replaced_by.try_emplace(known->second, known->second).first->second;
    if (tells_more(c, x_log.communicators[best])) best = index;
    return true;
  }

  Key key_of(const LogCommunicator& c, const Process& process) const {
    if (c.id) return {.id = c.id, .split = {}, .color = {}};
    Key key{.id = {}, .split = {}, .color = {}, .size = c.ranks, .run = c.run};
    if (c.parent) {
      const auto parent = x_set_of_pointer.find({process, *c.parent});
      // A parent that is not in the log is another one in each process: none of it can be compared.
      key.parent_set = parent == x_set_of_pointer.end() ? kNobody - 1 : parent->second;
      key.split = c.split;
      key.color = c.color;
    }
    return key;
  }

  std::uint32_t set_for(const Key& key, const LogCommunicator& c) {
    const auto number = static_cast<std::uint32_t>(x_keys.size());
    const std::uint32_t of_key = x_keys.emplace(key, number).first->second;
    const std::uint32_t nth = c.rank < 0 ? 0 : x_times_seen[{of_key, c.rank}]++;
    const auto [it, is_new] =
        x_set_of_turn.emplace(std::pair(of_key, nth), static_cast<std::uint32_t>(x_sets.size()));
    if (is_new) {
      CommunicatorSet set;
      set.id = key.id;
      set.by_order = !key.id && !(key.split && key.color && key.parent_set < kNobody - 1);
      set.label = label_of(key, nth);
      x_sets.push_back(std::move(set));
    }
    return it->second;
  }

  std::string label_of(const Key& key, std::uint32_t nth) {
    const std::string again = nth == 0 ? "" : ", the " + ordinal(nth + 1) + " of that name";
    if (key.id) return "commId " + hex(*key.id) + again;
    const std::string ranks =
        key.size < 0 ? "communicator" : std::to_string(key.size) + (key.size == 1 ? " rank" : " ranks");
    if (key.parent_set == kNobody) {
      const std::uint32_t turn = ++x_turns_of_size[key.size];
      return ranks + ", the " + ordinal(turn);
    }
    std::string text = "split";
    if (key.split) text += " " + std::to_string(*key.split);
    if (key.color) text += " color " + std::to_string(*key.color);
    if (key.parent_set < x_sets.size()) text += " of " + x_sets[key.parent_set].label;
    if (text.size() > 120) text = "split of " + ranks;  // splits of splits of splits
    return text + again;
  }

  // Which global ranks wrote any line at all.
  void collect_rank_logs() {
    for (const model::LogOrigin& origin : x_log.origins) {
      if (origin.global_rank >= 0) x_writers.insert(origin.global_rank);
    }
    for (const CommunicatorSet& set : x_sets) x_world = std::max(x_world, set.size);
  }

  void finish(CommunicatorSet& set) {
    for (std::uint32_t& member : set.members) {
      if (const auto it = x_replaced_by.find(member); it != x_replaced_by.end()) member = it->second;
    }
    std::stable_sort(set.members.begin(), set.members.end(), [this](std::uint32_t a, std::uint32_t b) {
      return x_log.communicators[a].rank < x_log.communicators[b].rank;
    });
    find_missing(set);
    find_stopped(set);
    tell_times(set);
  }

  void find_missing(CommunicatorSet& set) {
    if (set.size <= 0) return;
    std::int64_t next = 0;
    std::int64_t unnamed = 0;
    const auto gap = [&](std::int64_t end) {  // [next, end)
      if (next >= end) return;
      set.missing.emplace_back(static_cast<std::int32_t>(next), static_cast<std::int32_t>(end - 1));
      set.missing_count += end - next;
    };
    for (const std::uint32_t member : set.members) {
      const std::int32_t rank = x_log.communicators[member].rank;
      if (rank < 0) {
        ++unnamed;
        continue;
      }
      if (rank >= set.size) break;
      gap(rank);
      next = std::max<std::int64_t>(next, rank + 1);
    }
    gap(set.size);
    // Members whose rank was not printed may be any of these.
    if (unnamed > 0) {
      set.missing.clear();
      set.missing_count = std::max<std::int64_t>(0, set.missing_count - unnamed);
    }
    if (set.size != x_world) return;
    for (const auto& [from, to] : set.missing) {
      for (auto it = x_writers.lower_bound(from); it != x_writers.end() && *it <= to; ++it)
        set.missing_with_log.push_back(*it);
    }
  }

  void find_stopped(CommunicatorSet& set) const {
    CommunicatorPhase least_stopped = CommunicatorPhase::kDestroyed;
    CommunicatorPhase least_complete = CommunicatorPhase::kDestroyed;
    for (const std::uint32_t member : set.members) {
      const LogCommunicator& c = x_log.communicators[member];
      if (was_complete(c)) {
        least_complete = std::min(least_complete, std::max(c.phase, CommunicatorPhase::kComplete));
        continue;
      }
      set.stopped.push_back(member);
      least_stopped = std::min(least_stopped, c.phase);
    }
    set.slowest = set.stopped.empty() ? least_complete : least_stopped;
    set.all_complete = set.size > 0 && set.missing_count == 0 && set.stopped.empty();
  }

  // Clocks are not mixed: of the times, those on the clock that comes up most count.
  LogClock main_clock(const CommunicatorSet& set) const {
    std::map<LogClock, std::size_t> seen;
    for (const std::uint32_t member : set.members) {
      const LogCommunicator& c = x_log.communicators[member];
      for (const LogTime& time : {c.started_at, c.completed_at, c.last_at}) {
        if (time.known()) ++seen[time.clock];
      }
    }
    LogClock best = LogClock::kNone;
    for (const auto& [clock, count] : seen) {
      if (best == LogClock::kNone || count > seen[best]) best = clock;
    }
    return best;
  }

  void tell_times(CommunicatorSet& set) const {
    const LogClock clock = main_clock(set);
    const auto later = [clock](LogTime& most, const LogTime& time) {
      if (time.known() && time.clock == clock && (!most.known() || time.ns > most.ns)) most = time;
    };
    for (const std::uint32_t member : set.members) {
      const LogCommunicator& c = x_log.communicators[member];
      set.seconds = std::max(set.seconds, c.total_seconds);
      later(set.last_complete, c.completed_at);
      if (!was_complete(c)) later(set.stopped_since, c.last_at);
      const LogTime& start = c.started_at;
      if (start.known() && start.clock == clock &&
          (!set.first_start.known() || start.ns < set.first_start.ns))
        set.first_start = start;
    }
    const bool spans =
        set.first_start.known() && set.last_complete.known() && set.last_complete.ns >= set.first_start.ns;
    if (set.seconds < 0 && spans)
      set.seconds =
          (static_cast<double>(set.last_complete.ns) - static_cast<double>(set.first_start.ns)) / 1e9;
  }

  const model::Log& x_log;
  std::vector<CommunicatorSet> x_sets;
  std::map<Key, std::uint32_t> x_keys;
  // (key, rank) -> how often it came up; (key, turn) -> set.
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> x_times_seen;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> x_set_of_turn;
  std::map<std::int32_t, std::uint32_t> x_turns_of_size;
  std::map<std::pair<Process, std::uint64_t>, std::uint32_t> x_set_of_pointer;
  using Life = std::tuple<Process, std::uint64_t, std::int32_t, std::optional<std::uint64_t>>;
  std::map<std::pair<Life, std::uint32_t>, std::uint32_t> x_lives_in_input;  // (life, input) -> how many
  std::map<std::pair<Life, std::uint32_t>, std::uint32_t>
      x_lives;                                           // (life, turn) -> member that stands for it
  std::map<std::uint32_t, std::uint32_t> x_replaced_by;  // member -> the fuller telling of it
  std::set<std::int32_t> x_writers;
  std::int32_t x_world = -1;  // the size of the largest communicator
};

}  // namespace

std::vector<CommunicatorSet> group_communicators(const model::Log& log) {
  return Grouping(log).sets();
}

}  // namespace unhang::detect
