// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/time_text.h"
#include "model/ras_rank.h"
#include "report/ras_screen.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::RasCommunicator;
using model::RasRank;

constexpr std::size_t kNamedProcesses = 2;  // more ranks are folded to their numbers
constexpr int kRanksWidth = 40;

std::string process_words(const RasRank& rank) {
  std::string words = rank.host;
  if (rank.pid >= 0) words += fmt::format("{}pid {}", words.empty() ? "" : " ", rank.pid);
  const std::int32_t gpu = rank.nvml_device >= 0 ? rank.nvml_device : rank.cuda_device;
  if (gpu >= 0) words += fmt::format("{}GPU {}", words.empty() ? "" : " ", gpu);
  return words;
}

struct JobSigns {
  std::size_t dead = 0, unresponsive = 0, missing = 0, no_communicator = 0, errors = 0;
  std::size_t with_laggards = 0, differing = 0, ties = 0, other_operation = 0, aborted = 0;
  std::size_t initialising = 0;
  bool any_counts = false, any_communicator = false, watched = false;
};

JobSigns signs_of(const RasJobState& job) {
  JobSigns signs;
  std::set<std::pair<std::string, std::int64_t>> dead, mute;
  for (std::size_t i = 0; i < job.communicators.size(); ++i) {
    const RasCommunicator& communicator = job.view.communicators[i];
    const RasCommunicatorState& state = job.communicators[i];
    const RasPresenceCount count = count_presence(communicator);
    signs.any_communicator = true;
    signs.missing += count.missing;
    signs.no_communicator += count.no_communicator;
    signs.errors += count.errors;
    signs.ties += state.tie ? 1 : 0;
    signs.with_laggards += state.laggards.empty() ? 0 : 1;
    signs.other_operation += state.other_operation.size();
    signs.watched = signs.watched || state.movement.has_value();
    bool differs = false;
    for (const RasCountState& counts : state.counts) {
      signs.any_counts = signs.any_counts || counts.most > 0;
      differs = differs || counts.least != counts.most;
    }
    signs.differing += differs ? 1 : 0;
    for (const RasRank& rank : communicator.ranks) {
      if (rank.presence == model::RasPresence::kDead) dead.emplace(rank.host, rank.pid);
      if (rank.presence == model::RasPresence::kUnresponsive) mute.emplace(rank.host, rank.pid);
      signs.aborted += rank.status == model::RasStatus::kAbort ? 1 : 0;
      signs.initialising += rank.status == model::RasStatus::kInit ? 1 : 0;
    }
  }
  for (const model::RasProcess& process : job.view.lost_processes)
    (process.dead ? dead : mute).emplace(process.host, process.pid);
  signs.dead = dead.size();
  signs.unresponsive = mute.size();
  signs.any_communicator = signs.any_communicator || !job.view.rows.empty();
  return signs;
}

void add_loss_words(const JobSigns& signs, std::vector<std::string>& out) {
  if (signs.dead > 0) {
    out.push_back(
        fmt::format("{} dead: silent for 60 s, so it exited, crashed or was stopped. What waits for it waits "
                    "for ever.",
                    counted(signs.dead, "process is", "processes are")));
  }
  if (signs.unresponsive > 0) {
    out.push_back(fmt::format(
        "{} not answer: gone, stopped, or its node is not reachable. After 60 s without a sign it "
        "counts as dead.",
        counted(signs.unresponsive, "process does", "processes do")));
  }
  if (signs.missing > 0) {
    out.push_back(fmt::format("{} no data; this answer does not say why.",
                              counted(signs.missing, "rank gave", "ranks gave")));
  }
}

void add_difference_words(const JobSigns& signs, std::vector<std::string>& out) {
  if (signs.other_operation > 0) {
    out.push_back(
        "A rank that is behind in one collective and ahead in another calls something else than the others.");
  }
  if (signs.ties > 0) out.push_back("Where two counts have equally many ranks, nobody can tell who is late.");
  if (signs.differing > 0 && !signs.watched) {
    out.push_back(
        "Counts differ. In a job that runs they do so for moments: one answer proves no stall. Ask again: "
        "unhang ras watch");
  }
}

}  // namespace

std::string ras_ranks_words(const RasCommunicator& communicator, const std::vector<std::int32_t>& ranks,
                            std::uint32_t unnamed) {
  std::string words;
  if (!ranks.empty() && ranks.size() <= kNamedProcesses) {
    for (const std::int32_t number : ranks) {
      const RasRank* rank = find_rank(communicator, number);
      const std::string process = rank != nullptr ? process_words(*rank) : "";
      words += fmt::format("{}rank {}", words.empty() ? "" : ", ", number);
      if (!process.empty()) words += fmt::format(" ({})", process);
    }
  } else if (!ranks.empty()) {
    words = "ranks " + fold_within(ranks, kRanksWidth);
  }
  if (unnamed == 0) return words;
  const std::string rest = counted(unnamed, "rank", "ranks") + " without a name";
  return words.empty() ? rest : words + " and " + rest;
}

namespace {

std::string ranks_of(const RasCommunicator& communicator, model::RasPresence presence) {
  std::vector<std::int32_t> ranks;
  for (const RasRank& rank : communicator.ranks) {
    if (rank.presence == presence) ranks.push_back(rank.rank);
  }
  return ras_ranks_words(communicator, ranks);
}

}  // namespace

std::string movement_words(const RasCommunicator& communicator, const RasCommunicatorState& state) {
  std::string words =
      fmt::format("{} ({}): ", model::hash_text(communicator.hash),
                  counted(static_cast<std::size_t>(std::max(communicator.size, 0)), "rank", "ranks"));
  if (!state.movement) return words + "seen once";
  const RasMovementState& movement = *state.movement;
  words += movement.movement;
  const auto& late = movement.frozen_laggards.empty() ? state.laggards : movement.frozen_laggards;
  if (!late.empty()) {
    words += fmt::format("; behind: {}", ras_ranks_words(communicator, late));
    if (movement.lag_since_ns)
      words += fmt::format(" since {}", base::utc_text(*movement.lag_since_ns).substr(0, 19) + "Z");
  }
  const RasPresenceCount count = count_presence(communicator);
  if (count.dead > 0) words += "; dead: " + ranks_of(communicator, model::RasPresence::kDead);
  if (count.unresponsive > 0)
    words += "; no answer: " + ranks_of(communicator, model::RasPresence::kUnresponsive);
  if (!movement.why.empty()) words += fmt::format(" ({})", movement.why);
  return words;
}

std::vector<std::string> ras_meaning(const RasJobState& job) {
  const JobSigns signs = signs_of(job);
  std::vector<std::string> out;
  add_loss_words(signs, out);
  if (signs.errors > 0) {
    out.push_back(fmt::format(
        "{} an error; the rank that says something else than \"remote process error\" met it first.",
        counted(signs.errors, "rank reports", "ranks report")));
  }
  if (signs.initialising > 0) {
    out.push_back(
        "Initialisation takes seconds to minutes. Ask again a minute later, not more often: some releases "
        "crash when "
        "asked during it.");
  }
  if (signs.aborted > 0)
    out.push_back(counted(signs.aborted, "rank has", "ranks have") +
                  " aborted a communicator: on purpose, or because of a time-out.");
  if (signs.no_communicator > 0) {
    out.push_back(
        "A process answers and does not know the communicator: it has left it, or not yet made it. While "
        "communicators are made this is ordinary.");
  }
  add_difference_words(signs, out);
  if (job.view.corrupt)
    out.push_back("The answer shows a known bug of its release; what it garbled is left out.");
  if (!job.view.complete) out.push_back("The answer is not whole: what is not shown may still be there.");
  if (!out.empty() || signs.watched) return out;
  if (!signs.any_communicator) return {"The job has no communicator yet, or has given up all of them."};
  return {
      "All ranks have launched the same. So it looks in a healthy job, and also where everybody waits in the "
      "same "
      "operation, or in operations that are not counted (send/recv, CUDA graphs). Whether it moves: unhang "
      "ras "
      "watch"};
}

}  // namespace unhang::report
