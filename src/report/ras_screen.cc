// SPDX-License-Identifier: Apache-2.0
#include "report/ras_screen.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/time_text.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;

constexpr std::size_t kMostLines = 16;  // of communicators that look alike, or differ, in one job
constexpr int kIndent = 4;

std::string range(std::uint64_t least, std::uint64_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

// "RUNNING", "RUNNING,INIT" in falling order of what weighs most; empty: not known.
std::string status_words(const RasCommunicator& communicator) {
  std::set<RasStatus, std::greater<>> statuses;
  for (const RasRank& rank : communicator.ranks) {
    if (rank.presence == RasPresence::kAnswered && rank.status != RasStatus::kUnknown)
      statuses.insert(rank.status);
  }
  for (const model::RasShare& share : communicator.shares) {
    if (!share.collective && share.status != RasStatus::kUnknown) statuses.insert(share.status);
  }
  std::string words;
  for (const RasStatus status : statuses)
    words += (words.empty() ? "" : ",") + std::string(model::name_of(status));
  return words;
}

std::string answered_words(const RasCommunicator& communicator, bool corrupt) {
  const RasPresenceCount count = count_presence(communicator);
  if (communicator.size < 0) return "?";
  const std::size_t size = static_cast<std::size_t>(communicator.size);
  const bool names_all = !communicator.secondary_hash.empty();  // JSON
  if (names_all) return fmt::format("{}/{}", count.answered, size);
  if (corrupt) return fmt::format("?/{}", size);
  // A text answer names outliers only: who is not said to be missing has answered.
  const std::size_t away = count.lost() + count.no_communicator;
  return fmt::format("{}/{}", size - std::min(size, away), size);
}

// Communicators that share a line: equal in what is shown, and nothing to say about one of them alone.
struct Row {
  std::string hash;
  std::size_t communicators = 1;
  std::string answered, status;
  std::map<model::RasCollective, std::pair<std::uint64_t, std::uint64_t>> counts;
  std::vector<std::size_t> members;  // indices
  bool plain = true;

  std::string counts_words() const {
    std::string words;
    for (const auto& [collective, ends] : counts) {
      if (ends.second == 0) continue;
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", model::name_of(collective),
                           range(ends.first, ends.second));
    }
    return words.empty() ? (counts.empty() ? "not stated" : "none yet") : words;
  }
};

bool is_plain(const RasCommunicator& communicator, const RasCommunicatorState& state) {
  const RasPresenceCount count = count_presence(communicator);
  const bool whole = count.lost() == 0 && count.no_communicator == 0 && count.errors == 0;
  const bool even = std::all_of(state.counts.begin(), state.counts.end(),
                                [](const RasCountState& counts) { return counts.least == counts.most; });
  return whole && even && !communicator.incomplete && !communicator.error && !communicator.mismatch;
}

std::vector<Row> rows_of(const RasJobState& job) {
  std::vector<Row> rows;
  std::map<std::tuple<std::int32_t, std::string, std::string, std::string>, std::size_t> plain_rows;
  for (std::size_t i = 0; i < job.communicators.size(); ++i) {
    const RasCommunicator& communicator = job.view.communicators[i];
    const RasCommunicatorState& state = job.communicators[i];
    Row row;
    row.hash = model::hash_text(communicator.hash);
    row.answered = answered_words(communicator, job.view.corrupt);
    row.status = status_words(communicator);
    row.plain = is_plain(communicator, state);
    row.members = {i};
    for (const RasCountState& counts : state.counts)
      row.counts[counts.collective] = {counts.least, counts.most};
    if (row.plain) {
      const std::string movement = state.movement ? state.movement->movement : "";
      const auto [at, is_new] =
          plain_rows.emplace(std::tuple(communicator.size, row.answered, row.status, movement), rows.size());
      if (!is_new) {
        Row& known = rows[at->second];
        ++known.communicators;
        known.members.push_back(i);
        for (const auto& [collective, ends] : row.counts) {
          const auto [have, added] = known.counts.emplace(collective, ends);
          if (added) continue;
          have->second = {std::min(have->second.first, ends.first),
                          std::max(have->second.second, ends.second)};
        }
        continue;
      }
    }
    rows.push_back(std::move(row));
  }
  // What is wrong first, then the largest.
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto size = [&](const Row& row) { return job.view.communicators[row.members.front()].size; };
    return std::tuple(a.plain, -size(a)) < std::tuple(b.plain, -size(b));
  });
  return rows;
}

class Screen {
 public:
  Screen(const RasState& state, const RasScreenOptions& options) : x_state(state), x_options(options) {}

  std::string render() {
    if (x_state.time_ns) text(base::utc_text(*x_state.time_ns).substr(0, 19) + "Z", 0, Style::kFaint);
    for (std::size_t i = 0; i < x_state.jobs.size(); ++i) {
      if (i > 0) x_lines.emplace_back();
      job(x_state.jobs[i], i);
    }
    if (!x_state.troubles.empty() || !x_state.notes.empty()) {
      if (!x_lines.empty()) x_lines.emplace_back();
      for (const RasTroubleState& trouble : x_state.troubles) {
        text((trouble.refused   ? ""
              : trouble.partial ? "not whole: "
                                : "no answer: ") +
                 trouble.text,
             0, Style::kWarning);
      }
      for (const std::string& note : x_state.notes) text("note: " + note, 0, Style::kPlain);
    }
    return paint(x_lines, x_options.color);
  }

 private:
  void text(const std::string& words, int indent, Style style, const std::string& lead = "") {
    const std::string space(static_cast<std::size_t>(indent), ' ');
    for (const std::string& line : wrap(one_line(lead + words), x_options.width - indent)) {
      x_lines.push_back({{space, Style::kPlain}, {line, style}});
    }
  }

  void job(const RasJobState& job, std::size_t number) {
    const model::RasView& view = job.view;
    std::string title = x_state.jobs.size() > 1 ? fmt::format("job {}: ", number + 1) : "";
    title += view.nccl_version.empty() ? "NCCL" : "NCCL " + view.nccl_version;
    const auto processes =
        view.processes ? static_cast<std::size_t>(*view.processes) : model::known_processes(view);
    if (processes > 0) title += " · " + counted(processes, "process", "processes");
    if (const std::size_t nodes = node_count(view); nodes > 0)
      title += " · " + counted(nodes, "node", "nodes");
    title += " · asked at " + join_within(job.answered_at, ", ", x_options.width);
    text(title, 0, Style::kStrong);
    communicators(job);
    for (const model::RasProcess& process : view.lost_processes) lost(process);
    for (const std::string& sentence : ras_meaning(job)) text(sentence, 0, Style::kPlain);
  }

  static std::size_t node_count(const model::RasView& view) {
    if (view.nodes) return static_cast<std::size_t>(std::max<std::int64_t>(*view.nodes, 0));
    std::set<std::string> hosts;
    for (const RasCommunicator& communicator : view.communicators) {
      for (const RasRank& rank : communicator.ranks) {
        if (!rank.host.empty() && rank.host != "unknown") hosts.insert(rank.host);
      }
    }
    return hosts.size();
  }

  void lost(const model::RasProcess& process) {
    std::string gpus;
    const auto& devices = process.nvml_devices.empty() ? process.cuda_devices : process.nvml_devices;
    if (!devices.empty()) gpus = " GPU " + fold_within(devices, kIndent * kIndent);
    text(fmt::format("{}: {} pid {}{}", process.dead ? "dead" : "no answer", process.host, process.pid, gpus),
         2, Style::kBad);
  }

  void columns_line(const std::string& first, const std::string& answered, const std::string& status,
                    const std::string& rest, Style style) {
    constexpr int kBefore = 2 + 18 + 11 + 10;
    if (x_options.width < kBefore + kBefore / 2) {  // no room for columns
      text(fmt::format("{} {} {}", first, answered, status), 2, style);
      return text(rest, kIndent, style);
    }
    const std::string head = fmt::format("  {:<18}{:<11}{:<9} ", first, answered, status);
    const int room = x_options.width - std::max(kBefore, columns(head));
    bool is_first = true;
    for (const std::string& line : wrap(rest, room)) {
      x_lines.push_back({{is_first ? head : std::string(kBefore, ' '), style}, {line, style}});
      is_first = false;
    }
  }

  void communicators(const RasJobState& job) {
    if (!job.communicators.empty())
      columns_line("communicator", "answered", "status", "launched", Style::kFaint);
    std::size_t lines = 0, left = 0;
    for (const Row& row : rows_of(job)) {
      if (++lines > kMostLines && !x_options.verbose) {
        left += row.communicators;
        continue;
      }
      const std::string first =
          row.communicators == 1 ? row.hash : fmt::format("{} alike", row.communicators);
      std::string status = row.status.empty() ? "-" : row.status;
      const auto& state = job.communicators[row.members.front()];
      const std::string movement = state.movement ? state.movement->movement + "; " : "";
      columns_line(first, row.answered, status, movement + row.counts_words(),
                   row.plain ? Style::kPlain : Style::kStrong);
      if (!row.plain) details(job.view.communicators[row.members.front()], state);
      if (!x_options.verbose) continue;
      for (const std::size_t member : row.members)
        ranks(job.view.communicators[member], row.communicators > 1);
    }
    if (left > 0) text(fmt::format("and {} more (--verbose)", left), 2, Style::kFaint);
    table(job.view);
  }

  // A text answer names communicators only where something is wrong with them; its table has them all.
  void table(const model::RasView& view) {
    for (const model::RasRow& row : view.rows) {
      std::string words =
          fmt::format("{} of {}: {} answered, {}",
                      counted(static_cast<std::size_t>(std::max<std::int64_t>(row.communicators, 0)),
                              "communicator", "communicators"),
                      counted(static_cast<std::size_t>(std::max<std::int64_t>(row.size, 0)), "rank", "ranks"),
                      row.ranks, model::name_of(row.status));
      if (row.incomplete) words += ", incomplete";
      if (row.error) words += ", errors";
      if (row.mismatch) words += ", counts or statuses differ";
      text(words, 2, row.incomplete || row.error || row.mismatch ? Style::kStrong : Style::kPlain);
    }
  }

  void named(const RasCommunicator& communicator, const char* what, RasPresence presence, Style style) {
    std::vector<std::int32_t> ranks;
    for (const RasRank& rank : communicator.ranks) {
      if (rank.presence == presence) ranks.push_back(rank.rank);
    }
    if (!ranks.empty())
      text(fmt::format("{}: {}", what, ras_ranks_words(communicator, ranks)), kIndent, style);
  }

  // Ranks in another stage of the communicator's life than some others.
  void with_status(const RasCommunicator& communicator, const char* what, model::RasStatus status) {
    std::vector<std::int32_t> ranks;
    std::size_t answered = 0;
    for (const RasRank& rank : communicator.ranks) {
      answered += rank.presence == RasPresence::kAnswered ? 1 : 0;
      if (rank.presence == RasPresence::kAnswered && rank.status == status) ranks.push_back(rank.rank);
    }
    if (!ranks.empty() && ranks.size() < answered)
      text(fmt::format("{}: {}", what, ras_ranks_words(communicator, ranks)), kIndent, Style::kWarning);
  }

  void details(const RasCommunicator& communicator, const RasCommunicatorState& state) {
    named(communicator, "dead", RasPresence::kDead, Style::kBad);
    named(communicator, "no answer", RasPresence::kUnresponsive, Style::kBad);
    named(communicator, "no data", RasPresence::kMissing, Style::kBad);
    named(communicator, "does not have it", RasPresence::kNoCommunicator, Style::kWarning);
    with_status(communicator, "initialising", model::RasStatus::kInit);
    with_status(communicator, "ending", model::RasStatus::kFinalize);
    with_status(communicator, "aborted", model::RasStatus::kAbort);
    for (const RasRank& rank : communicator.ranks) error(communicator, rank);
    if (!state.other_operation.empty())
      text("calls something else: " + ras_ranks_words(communicator, state.other_operation), kIndent,
           Style::kWarning);
    for (const RasCountState& counts : state.counts) difference(communicator, counts);
    if (state.movement && state.movement->lag_since_ns)
      text("so since " + base::utc_text(*state.movement->lag_since_ns).substr(0, 19) + "Z", kIndent,
           Style::kWarning);
  }

  void error(const RasCommunicator& communicator, const RasRank& rank) {
    const bool init = model::is_nccl_error(rank.init_state);
    if (!init && !model::is_nccl_error(rank.async_error)) return;
    const auto result = init ? *rank.init_state : *rank.async_error;
    text(fmt::format("{}: {}{}", ras_ranks_words(communicator, {rank.rank}), model::text_of(result),
                     init ? " while it was set up" : ""),
         kIndent, Style::kBad);
  }

  void difference(const RasCommunicator& communicator, const RasCountState& counts) {
    if (counts.least == counts.most) return;
    const std::string_view name = model::name_of(counts.collective);
    const std::string than = counts.tie ? fmt::format("as many are at {}", counts.majority)
                                        : fmt::format("most are at {}", counts.majority);
    if (!counts.laggards.empty() || counts.unnamed_laggards > 0) {
      text(fmt::format("{}: {}: {} {}, {}", counts.tie ? "lower" : "behind",
                       ras_ranks_words(communicator, counts.laggards, counts.unnamed_laggards), name,
                       range_of(communicator, counts, counts.laggards), than),
           kIndent, Style::kWarning);
    }
    if (!counts.leaders.empty() || counts.unnamed_leaders > 0) {
      text(fmt::format("ahead: {}: {} {}, {}",
                       ras_ranks_words(communicator, counts.leaders, counts.unnamed_leaders), name,
                       range_of(communicator, counts, counts.leaders), than),
           kIndent, Style::kPlain);
    }
  }

  // The counts of these ranks; of unnamed ones, the end on their side.
  static std::string range_of(const RasCommunicator& communicator, const RasCountState& counts,
                              const std::vector<std::int32_t>& ranks) {
    std::set<std::uint64_t> have;
    for (const RasRank& rank : communicator.ranks) {
      const auto& count = rank.counts[static_cast<std::size_t>(counts.collective)];
      if (count && std::binary_search(ranks.begin(), ranks.end(), rank.rank)) have.insert(*count);
    }
    if (have.empty()) return range(counts.least, counts.most);
    return range(*have.begin(), *have.rbegin());
  }

  void ranks(const RasCommunicator& communicator, bool with_name) {
    if (with_name) text(model::hash_text(communicator.hash), kIndent, Style::kFaint);
    for (const RasRank& rank : communicator.ranks) {
      std::string words = ras_ranks_words(communicator, {rank.rank});
      if (rank.presence == RasPresence::kAnswered) {
        words += " " + std::string(model::name_of(rank.status));
        for (std::size_t i = 0; i < model::kRasCollectives; ++i) {
          if (!rank.counts[i] || *rank.counts[i] == 0) continue;
          words +=
              fmt::format(", {} {}", model::name_of(static_cast<model::RasCollective>(i)), *rank.counts[i]);
        }
      } else {
        words += rank.presence == RasPresence::kNoCommunicator ? " does not have it" : " no answer";
      }
      text(words, kIndent, Style::kPlain);
    }
  }

  const RasState& x_state;
  const RasScreenOptions& x_options;
  std::vector<Line> x_lines;
};

}  // namespace

std::string render_ras_screen(const RasState& state, const RasScreenOptions& options) {
  return Screen(state, options).render();
}

}  // namespace unhang::report
