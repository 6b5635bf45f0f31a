// SPDX-License-Identifier: Apache-2.0
#include "join/ras_ranks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/rank_set.h"

namespace unhang::join {
namespace {

using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasView;

// A GPU of a process. NVML numbers are the same for all processes of a host, CUDA's are not.
struct Place {
  std::string_view host;
  std::int64_t pid;
  std::int32_t device;
  bool operator==(const Place&) const = default;
};

struct HashPlace {
  std::size_t operator()(const Place& place) const {
    return std::hash<std::string_view>()(place.host) * 31 + static_cast<std::size_t>(place.pid) * 1'000'003 +
           static_cast<std::size_t>(place.device);
  }
};

std::optional<Place> place_of(const RasRank& rank) {
  if (rank.pid < 0 || rank.host.empty()) return {};
  return Place{rank.host, rank.pid, rank.nvml_device >= 0 ? rank.nvml_device : rank.cuda_device};
}

// The ranks that communicators of this history can stand for.
std::int32_t largest_size(const RasHistory& history) {
  std::int32_t size = -1;
  for (const RasView& view : history) {
    for (const RasCommunicator& communicator : view.communicators) size = std::max(size, communicator.size);
    for (const model::RasRow& row : view.rows) {
      if (row.communicators == 1 && row.size < (1 << 24))
        size = std::max(size, static_cast<std::int32_t>(row.size));
    }
  }
  return size;
}

struct Choice {
  std::optional<std::size_t> history;
  std::string why_none;
};

// Those that share most with the logs of the job; empty where all are strangers to logs and dumps. Without
// dumps nobody knows whether the logs or the answers are of the job that was meant: it may have been started
// again between them.
std::vector<std::size_t> nearest(const std::vector<RasHistory>& histories, NcclJob logs,
                                 const model::Case& joined) {
  std::vector<std::size_t> out;
  Kinship best = Kinship::kStranger;
  if (!logs.communicators.empty()) {
    for (const model::Rank& rank : joined.ranks) {
      if (rank.pid >= 0) logs.pids.insert(rank.pid);
    }
  }
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const Kinship own = logs.communicators.empty() ? Kinship::kUnknown : kinship(histories[i], logs);
    if (own > best) out.clear();
    best = std::max(best, own);
    if (own == best) out.push_back(i);
  }
  if (best == Kinship::kStranger && joined.has_dumps) out.clear();
  return out;
}

// The history of the logs' and the dumps' job, or the largest where there are no dumps.
Choice choose(const std::vector<RasHistory>& histories, const NcclJob& logs, const model::Case& joined) {
  const std::vector<std::size_t> candidates = nearest(histories, logs, joined);
  if (candidates.empty())
    return {{}, "its communicators and processes are not those of the logs: another job or run"};
  if (!joined.has_dumps) return {candidates.front(), {}};
  const std::size_t ranks = joined.ranks.size();
  for (const std::size_t i : candidates) {
    if (std::cmp_equal(largest_size(histories[i]), ranks)) return {i, {}};
  }
  // Sub-groups only, or a job of which only some dumps were copied.
  for (const std::size_t i : candidates) {
    const std::int32_t size = largest_size(histories[i]);
    if (std::cmp_less_equal(size, ranks) || joined.world_inferred) return {i, {}};
  }
  return {{}, "its communicators do not fit the job of the dumps: another job answered"};
}

// Another communicator of that size has other members: then neither is the whole job.
bool has_rival(const RasView& view, const RasCommunicator& best) {
  std::int64_t of_this_size = 0;
  for (const model::RasRow& row : view.rows) {
    if (row.size == best.size) of_this_size += std::min<std::int64_t>(row.communicators, 2);
  }
  if (of_this_size > 1 && view.gpus && *view.gpus > best.size) return true;
  std::unordered_set<Place, HashPlace> places;
  for (const RasRank& rank : best.ranks) {
    if (const auto place = place_of(rank)) places.insert(*place);
  }
  if (std::cmp_not_equal(places.size(), best.size)) return false;
  return std::any_of(view.communicators.begin(), view.communicators.end(), [&](const auto& other) {
    return other.size == best.size && std::any_of(other.ranks.begin(), other.ranks.end(), [&](const auto& r) {
             const auto place = place_of(r);
             return place && places.count(*place) == 0;
           });
  });
}

// The communicator whose ranks are those of the job.
std::uint64_t world_of(const RasHistory& history, const model::Case& joined) {
  const RasCommunicator* best = nullptr;
  for (const RasView& view : history) {
    if (!joined.has_dumps || joined.world_inferred) {
      const RasCommunicator* largest = model::largest_communicator(view);
      if (largest != nullptr && (best == nullptr || largest->size > best->size)) best = largest;
      continue;
    }
    for (const RasCommunicator& communicator : view.communicators) {
      if (best == nullptr && std::cmp_equal(std::max(communicator.size, 0), joined.ranks.size()))
        best = &communicator;
    }
  }
  if (best == nullptr) return 0;
  // One of a larger row that the text does not name may be the job's: then this one is a part of it.
  for (const RasView& view : history) {
    for (const model::RasRow& row : view.rows) {
      if (row.size > best->size) return 0;
    }
    if (has_rival(view, *best)) return 0;
  }
  return best->hash;
}

void add_ranks(std::int32_t count, model::Case& joined) {
  std::set<std::int32_t> known;
  for (const model::Rank& rank : joined.ranks) known.insert(rank.global_rank);
  for (std::int32_t rank = 0; rank < count; ++rank) {
    if (known.count(rank) != 0) continue;
    joined.ranks.emplace_back();
    joined.ranks.back().global_rank = rank;
  }
  std::sort(joined.ranks.begin(), joined.ranks.end(),
            [](const auto& a, const auto& b) { return a.global_rank < b.global_rank; });
}

void name_ranks(RasHistory& history, std::uint64_t world) {
  std::unordered_map<Place, std::int32_t, HashPlace> global;
  for (const RasView& view : history) {
    for (const RasCommunicator& communicator : view.communicators) {
      if (communicator.hash != world || world == 0) continue;
      for (const RasRank& rank : communicator.ranks) {
        if (const auto place = place_of(rank)) global.emplace(*place, rank.rank);
      }
    }
  }
  for (RasView& view : history) {
    for (RasCommunicator& communicator : view.communicators) {
      for (RasRank& rank : communicator.ranks) {
        const auto place = place_of(rank);
        const auto found = place ? global.find(*place) : global.end();
        if (world != 0 && communicator.hash == world) {
          rank.global_rank = rank.rank;
        } else if (found != global.end()) {
          rank.global_rank = found->second;
        }
      }
    }
  }
}

// Dumps of a bundle tell the pid that wrote them. Where no communicator spans the job, a pid that only one
// rank has and only one host shows stands for that rank.
void name_ranks_by_pid(RasHistory& history, const model::Case& joined) {
  std::map<std::int64_t, std::vector<std::int32_t>> ranks_of;
  for (const model::Rank& rank : joined.ranks) {
    if (rank.pid >= 0) ranks_of[rank.pid].push_back(rank.global_rank);
  }
  if (ranks_of.empty()) return;
  std::map<std::int64_t, std::set<std::string>> hosts_of;
  for (const RasView& view : history) {
    for (const RasCommunicator& communicator : view.communicators) {
      for (const RasRank& rank : communicator.ranks) hosts_of[rank.pid].insert(rank.host);
    }
  }
  for (RasView& view : history) {
    for (RasCommunicator& communicator : view.communicators) {
      for (RasRank& rank : communicator.ranks) {
        const auto known = ranks_of.find(rank.pid);
        if (rank.global_rank < 0 && known != ranks_of.end() && known->second.size() == 1 &&
            hosts_of[rank.pid].size() == 1)
          rank.global_rank = known->second.front();
      }
    }
  }
}

void fill_identity(const RasHistory& history, model::Case& joined) {
  std::set<std::int32_t> conflicts;
  std::vector<bool> from_dump;
  for (const model::Rank& rank : joined.ranks) from_dump.push_back(rank.pid >= 0);
  for (const RasView& view : history) {
    for (const RasCommunicator& communicator : view.communicators) {
      for (const RasRank& rank : communicator.ranks) {
        if (rank.global_rank < 0 || rank.pid < 0) continue;
        const auto index = joined.find_rank(rank.global_rank);
        if (!index) continue;
        model::Rank& known = joined.ranks[*index];
        if (from_dump[*index] && known.pid != rank.pid) {
          conflicts.insert(known.global_rank);
          continue;
        }
        // Of a restart between the answers the later process counts.
        if (known.host.empty() || !known.input) known.host = rank.host;
        known.pid = rank.pid;
        known.cuda_device = rank.cuda_device;
      }
    }
  }
  if (conflicts.empty() || history.empty() || history.front().sources.empty()) return;
  const std::vector<std::int32_t> ranks(conflicts.begin(), conflicts.end());
  joined.conflicts.push_back({history.front().sources.front(),
                              "RAS and the dumps name different processes for rank" +
                                  std::string(ranks.size() == 1 ? " " : "s ") + base::fold_ranks(ranks)});
}

void set_aside(const RasHistory& history, const std::string& reason, model::Case& joined) {
  std::set<std::uint32_t> inputs;
  for (const RasView& view : history) inputs.insert(view.sources.begin(), view.sources.end());
  for (const std::uint32_t input : inputs) joined.set_aside.push_back({input, reason, false});
}

// A job may stand for a night before somebody looks, and the time of an answer has no zone: only days apart
// is it another run.
void set_aside_other_days(std::vector<RasHistory>& histories, std::int64_t dumped_ns, model::Case& joined) {
  constexpr std::int64_t kDays = 3 * 86'400ll * 1'000'000'000;
  if (dumped_ns <= 0 || dumped_ns > INT64_MAX / 2) return;  // not known, or not true
  std::erase_if(histories, [&](RasHistory& history) {
    RasHistory strangers;
    std::erase_if(history, [&](RasView& view) {
      if (!view.time_ns || std::abs(*view.time_ns - dumped_ns) < kDays) return false;
      strangers.push_back(std::move(view));
      return true;
    });
    set_aside(strangers, "it was taken days before or after the dumps: another run", joined);
    return history.empty();
  });
}

}  // namespace

void join_ras(std::vector<AskedAnswer> answers, std::vector<model::RasEvidence::Event> events,
              std::int64_t dumped_ns, const NcclJob& logs, model::Case& joined) {
  joined.ras.events = std::move(events);
  std::vector<RasHistory> histories = unite_ras(std::move(answers));
  if (histories.empty()) return;
  set_aside_other_days(histories, dumped_ns, joined);
  if (histories.empty()) return;
  const Choice chosen = choose(histories, logs, joined);
  for (std::size_t i = 0; i < histories.size(); ++i) {
    if (chosen.history == i) continue;
    set_aside(histories[i],
              chosen.history
                  ? "it answers for another job, which shares no communicator and no process with this one"
                  : chosen.why_none,
              joined);
  }
  if (!chosen.history) return;
  RasHistory& history = histories[*chosen.history];
  joined.ras.world_hash = world_of(history, joined);
  joined.ras.ranks_from_communicator = !joined.has_dumps;
  // A ceiling on what a damaged answer may claim.
  constexpr std::int32_t kRanksAtMost = 1 << 20;
  const std::int32_t size = largest_size(history);
  if (size > 0 && size <= kRanksAtMost && (!joined.has_dumps || joined.world_inferred)) {
    add_ranks(size, joined);
    joined.world_inferred = false;
  }
  name_ranks(history, joined.ras.world_hash);
  if (joined.ras.world_hash == 0) name_ranks_by_pid(history, joined);
  fill_identity(history, joined);
  joined.ras.views = std::move(history);
}

void cover_ras(model::Case& joined) {
  if (joined.ras.views.empty()) return;
  const RasView& latest = joined.ras.views.back();
  enum : char { kNothing, kAnswered, kLost };
  std::vector<char> known(joined.ranks.size(), kNothing);
  bool named = false;
  for (const RasCommunicator& communicator : latest.communicators) {
    for (const RasRank& rank : communicator.ranks) {
      if (rank.global_rank < 0) continue;
      named = true;
      const bool heard =
          rank.presence == RasPresence::kAnswered || rank.presence == RasPresence::kNoCommunicator;
      if (const auto index = joined.find_rank(rank.global_rank)) {
        if (known[*index] != kLost) known[*index] = heard ? kAnswered : kLost;
      }
    }
  }
  // A text answer lists nobody of a communicator in which all is well.
  const bool all_well =
      latest.complete && !latest.rows.empty() &&
      std::none_of(latest.rows.begin(), latest.rows.end(), [](auto& row) { return row.incomplete; });
  model::CoverageRow row;
  row.source = "nccl_ras";
  for (model::RankIndex index = 0; index < joined.ranks.size(); ++index) {
    if (known[index] == kLost) {
      row.absent.push_back(index);
    } else if (known[index] == kAnswered || all_well || (named && !latest.rows.empty() && latest.complete)) {
      row.seen.push_back(index);
    } else {
      row.partial.push_back(index);
    }
  }
  joined.coverage.push_back(std::move(row));
}

}  // namespace unhang::join
