// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/text_conclusions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>

#include "formats/ras/soundness.h"

namespace unhang::formats::ras {

using model::RasAnswer;
using model::RasCommunicator;
using model::RasPresence;
using model::RasProcess;
using model::RasRank;
using model::RasRow;
using model::RasShare;
using model::RasStatus;
using model::Severity;

namespace {

using Rows = std::unordered_map<std::int32_t, const RasRow*>;

void note_corrupt(TextDraft& draft, Reading& reading, std::string text, std::uint64_t line) {
  draft.answer.corrupt = true;
  reading.problem(Severity::kError, "corrupt_answer", std::move(text), line, draft.answer.offset);
}

bool is_garbage(const RasRow& row) {
  return row.size <= 0 || row.nodes <= 0 || row.ranks <= 0 || row.communicators <= 0 ||
         row.size > kMaxRanks || row.nodes > row.size || row.ranks_per_node_least <= 0 ||
         row.ranks_per_node_most > row.size || row.status == RasStatus::kNoCommunicator;
}

// Releases with known bugs print rows of communicators that are not there.
void drop_garbage_rows(TextDraft& draft, Reading& reading) {
  for (const RasRow& row : draft.answer.rows) {
    if (is_garbage(row)) {
      note_corrupt(draft, reading,
                   fmt::format("a row of a communicator that cannot be (size {}, {} nodes), a known bug of "
                               "NCCL 2.26 to 2.30; it and what hangs on it is left out",
                               row.size, row.nodes),
                   row.line);
    } else if (row.communicators == 1 && row.ranks < row.size && !row.incomplete && !row.mismatch) {
      note_corrupt(draft, reading,
                   "a communicator has fewer ranks than its size and no word on the others, a known bug of "
                   "NCCL 2.27 to 2.30",
                   row.line);
    }
  }
  std::erase_if(draft.answer.rows, is_garbage);
}

// Communicators whose row was garbage go with it.
void drop_garbage_communicators(TextDraft& draft, Reading& reading, const Rows& rows) {
  const bool has_table = !draft.answer.rows.empty() || draft.answer.corrupt;
  auto& all = draft.answer.communicators;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto row = rows.find(all[i].text_group);
    if (row != rows.end()) all[i].size = static_cast<std::int32_t>(row->second->size);
    if (all[i].hash == 0 || (row == rows.end() && has_table)) {
      note_corrupt(draft, reading, "a communicator that the table does not have; it is left out",
                   all[i].line);
      continue;
    }
    if (all[i].size > 0 && all[i].missing_ranks > static_cast<std::uint32_t>(all[i].size)) {
      note_corrupt(draft, reading,
                   fmt::format("{} ranks are missing of a communicator of {}; it is left out",
                               all[i].missing_ranks, all[i].size),
                   all[i].line);
      continue;
    }
    if (kept != i) {
      all[kept] = std::move(all[i]);
      draft.status_paragraph[kept] = draft.status_paragraph[i];
      draft.mismatch_paragraph[kept] = draft.mismatch_paragraph[i];
    }
    ++kept;
  }
  all.resize(kept);
}

void merge_into(RasRank& rank, RasRank& other) {
  if (rank.pid < 0 && other.pid >= 0) {
    rank.pid = other.pid;
    rank.host = std::move(other.host);
    rank.cuda_device = other.cuda_device;
    rank.nvml_device = other.nvml_device;
  }
  if (rank.presence == RasPresence::kAnswered) rank.presence = other.presence;
  if (rank.status == RasStatus::kUnknown) rank.status = other.status;
  rank.abort_flag = rank.abort_flag || other.abort_flag;
  if (!rank.init_state) rank.init_state = other.init_state;
  if (!rank.async_error) rank.async_error = other.async_error;
  for (std::size_t i = 0; i < rank.counts.size(); ++i) {
    if (!rank.counts[i]) rank.counts[i] = other.counts[i];
  }
}

// One record for each rank, ascending; ranks beyond the size are garbage.
void merge_ranks(TextDraft& draft, RasCommunicator& communicator, Reading& reading) {
  auto& ranks = communicator.ranks;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RasRank& a, const RasRank& b) { return a.rank < b.rank; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (communicator.size >= 0 && ranks[i].rank >= communicator.size) {
      note_corrupt(draft, reading,
                   fmt::format("rank {} of a communicator of {}", ranks[i].rank, communicator.size),
                   communicator.line);
      break;
    }
    if (kept > 0 && ranks[kept - 1].rank == ranks[i].rank) {
      merge_into(ranks[kept - 1], ranks[i]);
    } else {
      if (kept != i) ranks[kept] = std::move(ranks[i]);
      ++kept;
    }
  }
  ranks.resize(kept);
  for (RasShare& share : communicator.shares) std::sort(share.named.begin(), share.named.end());
}

// Why a rank is missing: its process is in one of the two lists, or there is only one kind of lost process.
class LostProcesses {
 public:
  explicit LostProcesses(const RasAnswer& answer)
      : x_silent(answer.silent_processes > 0), x_dead(answer.dead_processes > 0) {
    for (const RasProcess& process : answer.lost_processes) {
      (process.dead ? x_dead_names : x_silent_names).insert(name_of(process.host, process.pid));
    }
  }

  RasPresence presence_of(const RasRank& rank) const {
    if (rank.pid < 0) return RasPresence::kMissing;
    const std::string name = name_of(rank.host, rank.pid);
    if (x_dead_names.contains(name)) return RasPresence::kDead;
    if (x_silent_names.contains(name)) return RasPresence::kUnresponsive;
    if (x_dead != x_silent) return x_dead ? RasPresence::kDead : RasPresence::kUnresponsive;
    return RasPresence::kMissing;
  }

 private:
  static std::string name_of(const std::string& host, std::int64_t pid) {
    return fmt::format("{} {}", pid, host);
  }

  bool x_silent, x_dead;
  std::unordered_set<std::string> x_silent_names, x_dead_names;
};

// An answer that promises more blocks of differences than it has was cut between two lines.
bool lacks_promised_blocks(const TextDraft& draft) {
  std::int64_t promised = 0;
  for (const RasRow& row : draft.answer.rows) {
    if (row.mismatch) promised += row.communicators;
  }
  const auto have = std::count(draft.mismatch_paragraph.begin(), draft.mismatch_paragraph.end(), true);
  return have < promised;
}

// What follows for one communicator of a whole and sound answer.
class Deduction {
 public:
  Deduction(RasCommunicator& communicator, const RasRow& row, bool has_status_paragraph)
      : x_communicator(communicator), x_row(row), x_has_status_paragraph(has_status_paragraph) {}

  // False: the lines do not tell of all ranks.
  bool lists_all() const {
    std::uint32_t missing = 0;
    for (const RasRank& rank : x_communicator.ranks) missing += is_missing(rank) ? 1 : 0;
    if (missing != x_communicator.missing_ranks || (missing > 0) != x_row.incomplete) return false;
    // Without a paragraph on statuses no live process lacks the communicator.
    return !x_has_status_paragraph || shares_cover(std::nullopt, size() - missing);
  }

  void add_ranks() {
    std::vector<RasRank> all;
    all.reserve(size());
    std::size_t next = 0;
    for (std::int32_t number = 0; number < x_communicator.size; ++number) {
      if (next < x_communicator.ranks.size() && x_communicator.ranks[next].rank == number) {
        all.push_back(std::move(x_communicator.ranks[next++]));
      } else {
        all.emplace_back().rank = number;
      }
    }
    x_communicator.ranks = std::move(all);
  }

  void add_statuses() {
    if (!x_has_status_paragraph) {
      for (RasRank& rank : x_communicator.ranks) {
        if (rank.presence == RasPresence::kAnswered) set_status(rank, x_row.status);
      }
      return;
    }
    if (const RasShare* rest = rest_of(std::nullopt)) {
      for (RasRank& rank : x_communicator.ranks) {
        if (rank.presence == RasPresence::kAnswered && rank.status == RasStatus::kUnknown) {
          set_status(rank, rest->status);
        }
      }
    }
  }

  void add_counts() {
    std::uint32_t answered = 0;
    for (const RasRank& rank : x_communicator.ranks) answered += rank.presence == RasPresence::kAnswered;
    for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
      const auto collective = static_cast<model::RasCollective>(i);
      const RasShare* rest = rest_of(collective);
      if (rest == nullptr || !shares_cover(collective, answered)) continue;
      for (RasRank& rank : x_communicator.ranks) {
        if (rank.presence == RasPresence::kAnswered && !rank.counts[i]) rank.counts[i] = rest->count;
      }
    }
  }

 private:
  using Kind = std::optional<model::RasCollective>;

  static bool is_missing(const RasRank& rank) {
    return rank.presence != RasPresence::kAnswered && rank.presence != RasPresence::kNoCommunicator;
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(x_communicator.size); }

  static void set_status(RasRank& rank, RasStatus status) {
    rank.status = status;
    rank.abort_flag = status == RasStatus::kAbort;
  }

  // The one group of this kind that is not named; null when there is none, or another one, or half a one.
  const RasShare* rest_of(Kind kind) const {
    const RasShare* rest = nullptr;
    for (const RasShare& share : x_communicator.shares) {
      if (share.collective != kind || share.named.size() == share.ranks) continue;
      if (rest != nullptr || !share.named.empty()) return nullptr;
      rest = &share;
    }
    return rest;
  }

  // The groups of this kind make up `ranks`, and at most one of them is without names.
  bool shares_cover(Kind kind, std::uint32_t ranks) const {
    std::uint64_t sum = 0;
    bool unnamed_absent = false;
    std::uint32_t unnamed = 0;
    for (const RasShare& share : x_communicator.shares) {
      if (share.collective != kind) continue;
      sum += share.ranks;
      if (share.named.size() == share.ranks) continue;
      ++unnamed;
      if (share.status == RasStatus::kNoCommunicator) unnamed_absent = true;
    }
    if (sum != ranks || unnamed_absent) return false;
    return kind ? unnamed <= 1 : true;
  }

  RasCommunicator& x_communicator;
  const RasRow& x_row;
  bool x_has_status_paragraph;
};

void deduce(TextDraft& draft, Reading& reading, const Rows& rows) {
  for (std::size_t i = 0; i < draft.answer.communicators.size(); ++i) {
    RasCommunicator& communicator = draft.answer.communicators[i];
    const auto row = rows.find(communicator.text_group);
    if (row == rows.end() || communicator.size <= 0) continue;
    Deduction deduction(communicator, *row->second, draft.status_paragraph[i]);
    if (!deduction.lists_all() ||
        !reading.take_deduced(static_cast<std::uint64_t>(communicator.size), communicator.line)) {
      continue;
    }
    deduction.add_ranks();
    deduction.add_statuses();
    deduction.add_counts();
  }
}

void note_end(TextDraft& draft, Reading& reading) {
  RasAnswer& answer = draft.answer;
  if (draft.cut) answer.complete = false;
  if (answer.complete && !answer.corrupt && lacks_promised_blocks(draft)) answer.complete = false;
  if (answer.complete) return;
  reading.problem(Severity::kDataLoss, "truncated",
                  "a report ends in the middle: the connection was closed, or the time was up; what it says "
                  "before is used",
                  answer.line, answer.offset);
}

}  // namespace

void conclude(TextDraft& draft, Reading& reading) {
  RasAnswer& answer = draft.answer;
  if (draft.mixed) {
    answer.corrupt = true;
    answer.communicators.clear();
    answer.rows.clear();
    answer.lost_processes.clear();
    answer.nodes = answer.processes = answer.gpus = std::nullopt;
    draft.mismatch_paragraph.clear();
  }
  drop_garbage_rows(draft, reading);
  Rows rows;
  for (const RasRow& row : answer.rows) rows.try_emplace(row.group, &row);
  drop_garbage_communicators(draft, reading, rows);
  for (RasCommunicator& communicator : answer.communicators) merge_ranks(draft, communicator, reading);
  const LostProcesses lost(answer);
  for (RasCommunicator& communicator : answer.communicators) {
    for (RasRank& rank : communicator.ranks) {
      if (rank.presence == RasPresence::kMissing) rank.presence = lost.presence_of(rank);
    }
  }
  note_end(draft, reading);
  if (answer.corrupt) {
    for (RasCommunicator& communicator : answer.communicators) distrust(communicator);
  } else if (answer.complete && !draft.strange) {
    deduce(draft, reading, rows);
  }
  sort_communicators(answer);
}

}  // namespace unhang::formats::ras
