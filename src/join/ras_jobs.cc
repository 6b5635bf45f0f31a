// SPDX-License-Identifier: Apache-2.0
#include "join/ras_jobs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "join/ras_split_brain.h"
#include "join/ras_time.h"

namespace unhang::join {
namespace {

using model::RasAnswer;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasView;

constexpr std::int64_t kOneMoment = 1'000'000'000;

struct Timed {
  AskedAnswer asked;
  std::optional<std::int64_t> time_ns;
  bool is_local_time = false;
};

// --- Which answers are of one job ---

class Sets {
 public:
  explicit Sets(std::size_t count) : x_parent(count) { std::iota(x_parent.begin(), x_parent.end(), 0); }
  std::size_t find(std::size_t i) {
    while (x_parent[i] != i) i = x_parent[i] = x_parent[x_parent[i]];
    return i;
  }
  // The lower number stands for the set, so that the order of calls does not matter.
  void unite(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    x_parent[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> x_parent;
};

// What a text answer of a healthy job shows instead of names: release and table.
std::string shape_of(const RasAnswer& answer) {
  std::string shape = answer.nccl_version;
  for (const auto& row : answer.rows) {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(row.communicators, 64); ++i)
      shape.append(" ").append(std::to_string(row.size));
  }
  return shape;
}

std::vector<std::size_t> jobs_of(const std::vector<Timed>& answers) {
  if (answers.size() == 1) return {0};
  Sets sets(answers.size());
  std::unordered_map<std::string, std::size_t> by_process;
  // A text answer knows no secondary hash: hash and size have to do.
  std::map<std::pair<std::uint64_t, std::int32_t>, std::size_t> by_hash;
  std::map<std::string, std::size_t> by_shape;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const RasAnswer& answer = answers[i].asked.answer;
    bool named = false;
    const auto process = [&](const std::string& host, std::int64_t pid) {
      if (pid < 0 || host.empty()) return;
      named = true;
      sets.unite(i, by_process.emplace(host + "/" + std::to_string(pid), i).first->second);
    };
    for (const RasCommunicator& communicator : answer.communicators) {
      named = true;
      sets.unite(i, by_hash.emplace(std::pair(communicator.hash, communicator.size), i).first->second);
      for (const RasRank& rank : communicator.ranks) process(rank.host, rank.pid);
    }
    for (const auto& lost : answer.lost_processes) process(lost.host, lost.pid);
    if (!answer.rows.empty()) {
      const auto [known, is_new] = by_shape.emplace(shape_of(answer), i);
      // Two nameless answers of one shape are taken for one job; a named one joins what it names.
      if (!named || !is_new) sets.unite(i, known->second);
    }
  }
  std::vector<std::size_t> job(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) job[i] = sets.find(i);
  return job;
}

// --- One view of one moment ---

std::size_t responding(const RasAnswer& answer) {
  std::size_t count = 0;
  for (const RasCommunicator& communicator : answer.communicators) {
    for (const RasRank& rank : communicator.ranks) count += rank.presence == RasPresence::kAnswered ? 1 : 0;
  }
  for (const auto& row : answer.rows) count += static_cast<std::size_t>(std::max<std::int64_t>(row.ranks, 0));
  return count;
}

// `into` comes from the answer that heard most ranks. What it calls dead stays dead: a process that went on
// after it was given up still answers for itself, and the others never talk to it again.
void merge_rank(RasRank& into, const RasRank& from, RasView& view) {
  if (into.presence == RasPresence::kDead && from.presence == RasPresence::kAnswered) {
    view.contradicted.push_back({into.host, into.pid, {}, {}, true});
    return;
  }
  if (into.presence == RasPresence::kAnswered) {
    if (from.presence == RasPresence::kDead) view.contradicted.push_back({into.host, into.pid, {}, {}, true});
    if (from.presence != RasPresence::kAnswered) return;
    // Counts only grow: the larger one is the later one.
    for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
      if (from.counts[i] && (!into.counts[i] || *from.counts[i] > *into.counts[i]))
        into.counts[i] = from.counts[i];
    }
    if (into.host.empty()) into.host = from.host;
    if (into.pid < 0) into.pid = from.pid;
    if (into.cuda_device < 0) into.cuda_device = from.cuda_device;
    if (into.nvml_device < 0) into.nvml_device = from.nvml_device;
    return;
  }
  if (from.presence == RasPresence::kAnswered || from.presence == RasPresence::kDead) into = from;
}

void merge_communicator(RasCommunicator& into, const RasCommunicator& from, RasView& view) {
  if (into.secondary_hash.empty()) into.secondary_hash = from.secondary_hash;
  if (into.size < 0) into.size = from.size;
  into.incomplete = into.incomplete || from.incomplete;
  into.error = into.error || from.error;
  into.mismatch = into.mismatch || from.mismatch;
  if (into.shares.empty()) into.shares = from.shares;
  for (const RasRank& rank : from.ranks) {
    const auto at = std::lower_bound(into.ranks.begin(), into.ranks.end(), rank.rank,
                                     [](const RasRank& known, std::int32_t r) { return known.rank < r; });
    if (at != into.ranks.end() && at->rank == rank.rank) {
      merge_rank(*at, rank, view);
    } else {
      into.ranks.insert(at, rank);
    }
  }
}

// Where communicators stand in RasView::communicators. A text answer says no secondary hash: then the first
// with that hash is meant.
class ByHash {
 public:
  void add(const RasCommunicator& communicator, std::size_t index) {
    x_exact.emplace(std::pair(communicator.hash, communicator.secondary_hash), index);
    x_first.emplace(communicator.hash, index);
  }
  std::optional<std::size_t> find(const RasCommunicator& wanted) const {
    if (wanted.secondary_hash.empty()) {
      const auto first = x_first.find(wanted.hash);
      if (first != x_first.end()) return first->second;
      return {};
    }
    auto known = x_exact.find({wanted.hash, wanted.secondary_hash});
    if (known == x_exact.end()) known = x_exact.find({wanted.hash, std::string()});
    if (known != x_exact.end()) return known->second;
    return {};
  }

 private:
  std::map<std::pair<std::uint64_t, std::string>, std::size_t> x_exact;
  std::map<std::uint64_t, std::size_t> x_first;
};

void merge_answer(RasView& view, ByHash& by_hash, RasAnswer&& answer, std::uint32_t source) {
  view.sources.push_back(source);
  if (view.nccl_version.empty()) view.nccl_version = answer.nccl_version;
  view.complete = view.complete && answer.complete;
  view.corrupt = view.corrupt || answer.corrupt;
  view.timeouts = std::max(view.timeouts, answer.timeouts);
  for (RasCommunicator& communicator : answer.communicators) {
    if (const auto same = by_hash.find(communicator)) {
      merge_communicator(view.communicators[*same], communicator, view);
    } else {
      by_hash.add(communicator, view.communicators.size());
      view.communicators.push_back(std::move(communicator));
    }
  }
  for (auto& lost : answer.lost_processes) view.lost_processes.push_back(std::move(lost));
  if (view.rows.empty()) view.rows = std::move(answer.rows);
  if (!view.nodes) view.nodes = answer.nodes;
  if (!view.processes) view.processes = answer.processes;
  if (!view.gpus) view.gpus = answer.gpus;
}

void put_in_order(RasView& view) {
  std::sort(view.communicators.begin(), view.communicators.end(), [](const auto& a, const auto& b) {
    return std::tie(a.hash, a.secondary_hash) < std::tie(b.hash, b.secondary_hash);
  });
  // Of two records of one process the one that calls it dead stays.
  const auto place = [](const auto& process) { return std::tie(process.host, process.pid); };
  const auto order = [&](auto& processes) {
    std::stable_sort(processes.begin(), processes.end(), [&](const auto& a, const auto& b) {
      return std::tuple(place(a), !a.dead) < std::tuple(place(b), !b.dead);
    });
    processes.erase(std::unique(processes.begin(), processes.end(),
                                [&](const auto& a, const auto& b) { return place(a) == place(b); }),
                    processes.end());
  };
  order(view.lost_processes);
  order(view.contradicted);
  std::sort(view.sources.begin(), view.sources.end());
  view.sources.erase(std::unique(view.sources.begin(), view.sources.end()), view.sources.end());
}

RasView view_of(std::vector<Timed*>& moment) {
  // The fullest answer first; of equals, JSON, then the order given.
  std::stable_sort(moment.begin(), moment.end(), [](const Timed* a, const Timed* b) {
    const auto weight = [](const Timed* t) {
      return std::tuple(responding(t->asked.answer), t->asked.answer.is_json, t->asked.answer.complete);
    };
    return weight(a) > weight(b);
  });
  RasView view;
  ByHash by_hash;
  for (Timed* timed : moment) {
    if (timed->time_ns && (!view.time_ns || *timed->time_ns < *view.time_ns)) {
      view.time_ns = timed->time_ns;
      view.is_local_time = timed->is_local_time;
    }
    merge_answer(view, by_hash, std::move(timed->asked.answer), timed->asked.source);
  }
  put_in_order(view);
  return view;
}

RasHistory history_of(std::vector<Timed*> answers, bool one_moment) {
  const bool all_timed = std::all_of(answers.begin(), answers.end(),
                                     [](const Timed* timed) { return timed->time_ns.has_value(); });
  if (all_timed) {
    std::stable_sort(answers.begin(), answers.end(),
                     [](const Timed* a, const Timed* b) { return *a->time_ns < *b->time_ns; });
  }
  RasHistory history;
  for (std::size_t from = 0; from < answers.size();) {
    std::size_t to = from + 1;
    while (to < answers.size() &&
           (one_moment || (all_timed && *answers[to]->time_ns - *answers[from]->time_ns < kOneMoment))) {
      ++to;
    }
    std::vector<Timed*> moment(answers.begin() + static_cast<std::ptrdiff_t>(from),
                               answers.begin() + static_cast<std::ptrdiff_t>(to));
    history.push_back(view_of(moment));
    from = to;
  }
  return history;
}

}  // namespace

std::vector<RasHistory> unite_ras(std::vector<AskedAnswer> answers, bool one_moment) {
  std::vector<Timed> timed;
  // One kind of clock for all: the callers' own where each answer has it, else what the answers print.
  const bool asked_times =
      std::all_of(answers.begin(), answers.end(), [](const AskedAnswer& a) { return a.time_ns.has_value(); });
  for (AskedAnswer& asked : answers) {
    timed.push_back({std::move(asked), {}, false});
    Timed& last = timed.back();
    last.time_ns = asked_times ? last.asked.time_ns : read_local_time(last.asked.answer.timestamp);
    last.is_local_time = !asked_times;
  }
  const std::vector<std::size_t> job = jobs_of(timed);
  std::vector<RasHistory> histories;
  for (std::size_t first = 0; first < timed.size(); ++first) {
    if (job[first] != first) continue;
    std::vector<Timed*> members;
    for (std::size_t i = first; i < timed.size(); ++i) {
      if (job[i] == first) members.push_back(&timed[i]);
    }
    histories.push_back(history_of(std::move(members), one_moment));
    drop_given_up(histories.back());
  }
  if (histories.size() < 2) return histories;
  std::stable_sort(histories.begin(), histories.end(), [](const RasHistory& a, const RasHistory& b) {
    const auto weight = [](const RasHistory& history) {
      std::size_t processes = 0;
      for (const RasView& view : history)
        processes = std::max(
            {processes, model::known_processes(view), static_cast<std::size_t>(view.processes.value_or(0))});
      return processes;
    };
    // Of a job and its restart the later one.
    return std::tuple(weight(a), a.back().time_ns) > std::tuple(weight(b), b.back().time_ns);
  });
  return histories;
}

}  // namespace unhang::join
