// SPDX-License-Identifier: Apache-2.0
#include "formats/ras/json_soundness.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "formats/ras/soundness.h"

namespace unhang::formats::ras {

using model::NcclResult;
using model::RasAnswer;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;
using model::Severity;

namespace {

bool is_error(const std::optional<NcclResult>& result) {
  return result && *result != NcclResult::kSuccess && *result != NcclResult::kInProgress;
}

RasStatus status_of(const RasRank& rank) {
  if (rank.presence != RasPresence::kAnswered) {
    return rank.presence == RasPresence::kNoCommunicator ? RasStatus::kNoCommunicator : RasStatus::kUnknown;
  }
  if (rank.abort_flag) return RasStatus::kAbort;
  if (rank.finalize_called || rank.destroy_flag) return RasStatus::kFinalize;
  if (!rank.init_state) return RasStatus::kUnknown;
  return *rank.init_state == NcclResult::kSuccess ? RasStatus::kRunning : RasStatus::kInit;
}

void note_corrupt(RasAnswer& answer, Reading& reading, std::string text, std::uint64_t line) {
  answer.corrupt = true;
  reading.problem(Severity::kError, "corrupt_answer", std::move(text), line, answer.offset);
}

bool counts_differ(const RasRank& a, const RasRank& b) {
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    if (a.counts[i] && b.counts[i] && *a.counts[i] != *b.counts[i]) return true;
  }
  return false;
}

void set_flags(RasCommunicator& communicator) {
  const RasRank* first = nullptr;
  communicator.incomplete = communicator.error = communicator.mismatch = false;
  communicator.missing_ranks = 0;
  for (const RasRank& rank : communicator.ranks) {
    if (rank.presence == RasPresence::kNoCommunicator) {
      communicator.mismatch = true;
    } else if (rank.presence != RasPresence::kAnswered) {
      communicator.incomplete = true;
      ++communicator.missing_ranks;
    } else {
      if (is_error(rank.init_state) || is_error(rank.async_error)) communicator.error = true;
      if (first == nullptr) first = &rank;
      if (rank.status != first->status || counts_differ(rank, *first)) communicator.mismatch = true;
    }
  }
}

// False: it cannot be one at all.
bool keep_communicator(RasAnswer& answer, RasCommunicator& communicator, Reading& reading) {
  if (communicator.hash == 0 || communicator.size <= 0) {
    note_corrupt(answer, reading,
                 "an entry of a communicator that cannot be (size 0 or no hash), a known bug of NCCL 2.27 to "
                 "2.30; it is left out",
                 communicator.line);
    return false;
  }
  auto& ranks = communicator.ranks;
  const auto impossible = [&](const RasRank& rank) {
    return rank.rank < 0 || rank.rank >= communicator.size;
  };
  if (std::any_of(ranks.begin(), ranks.end(), impossible)) {
    note_corrupt(answer, reading, fmt::format("a rank outside of a communicator of {}", communicator.size),
                 communicator.line);
    std::erase_if(ranks, impossible);
  }
  const auto before = [](const RasRank& a, const RasRank& b) { return a.rank < b.rank; };
  if (!std::is_sorted(ranks.begin(), ranks.end(), before)) {
    std::stable_sort(ranks.begin(), ranks.end(), before);
  }
  const auto same = [](const RasRank& a, const RasRank& b) { return a.rank == b.rank; };
  const auto end = std::unique(ranks.begin(), ranks.end(), same);
  if (end != ranks.end()) {
    reading.problem(Severity::kError, "duplicate_rank",
                    "a rank stands twice in one communicator; the first is used", communicator.line,
                    answer.offset);
    ranks.erase(end, ranks.end());
  }
  return true;
}

}  // namespace

void judge(RasAnswer& answer, Reading& reading) {
  std::erase_if(answer.communicators, [&](RasCommunicator& communicator) {
    return !keep_communicator(answer, communicator, reading);
  });
  if (answer.complete) {
    for (const RasCommunicator& communicator : answer.communicators) {
      if (communicator.ranks.size() >= static_cast<std::size_t>(communicator.size)) continue;
      note_corrupt(
          answer, reading,
          fmt::format("{} ranks of a communicator of {} and no word on the others, a known bug of NCCL "
                      "2.27 to 2.30",
                      communicator.ranks.size(), communicator.size),
          communicator.line);
    }
  }
  for (RasCommunicator& communicator : answer.communicators) {
    if (answer.corrupt) distrust(communicator);
    for (RasRank& rank : communicator.ranks) rank.status = status_of(rank);
    set_flags(communicator);
  }
  sort_communicators(answer);
}

}  // namespace unhang::formats::ras
