// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_ras.h"

#include <algorithm>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/printable.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

constexpr std::size_t kMostNamed = 3;  // communicators, or processes, that one line names
constexpr int kRankColumns = 40;

void add_name(std::string& list, std::size_t count, const std::string& name) {
  if (count < kMostNamed) list += (list.empty() ? "" : ", ") + name;
  if (count == kMostNamed) list += ", …";
}

std::string communicator_words(const model::RasCommunicator& communicator) {
  return fmt::format("{} ({})", model::hash_text(communicator.hash), communicator.size);
}

// Who lags, and since when nobody moved, over the communicators that stand.
struct Lags {
  std::string who;
  std::size_t count = 0;
  std::optional<std::int64_t> since_ns;

  void add(const model::RasCommunicator& communicator, const report::RasCommunicatorState& state) {
    std::vector<std::int32_t> ranks = state.laggards;
    ranks.insert(ranks.end(), state.other_operation.begin(), state.other_operation.end());
    std::sort(ranks.begin(), ranks.end());
    if (ranks.empty()) return;
    const auto since =
        state.movement->last_moved_ns ? state.movement->last_moved_ns : state.movement->lag_since_ns;
    if (since && (!since_ns || *since < *since_ns)) since_ns = since;
    add_name(who, count++,
             fmt::format("{} {} of {}", ranks.size() == 1 ? "rank" : "ranks",
                         report::fold_within(ranks, kRankColumns), communicator_words(communicator)));
  }
};

// Ranks whose process is in this condition, each process once.
std::string processes_words(const report::RasState& state, model::RasPresence presence) {
  std::string out;
  std::set<std::pair<std::string, std::int64_t>> known;
  for (const report::RasJobState& job : state.jobs) {
    for (const model::RasProcess& process : job.view.lost_processes) {
      if (process.dead != (presence == model::RasPresence::kDead)) continue;
      if (known.emplace(process.host, process.pid).second) {
        add_name(out, known.size() - 1,
                 fmt::format("pid {} on {}", process.pid, base::printable(process.host)));
      }
    }
    for (const model::RasCommunicator& communicator : job.view.communicators) {
      for (const model::RasRank& rank : communicator.ranks) {
        if (rank.presence != presence || !known.emplace(rank.host, rank.pid).second) continue;
        add_name(out, known.size() - 1,
                 fmt::format("rank {} of {} (pid {} on {})", rank.rank, communicator_words(communicator),
                             rank.pid, base::printable(rank.host)));
      }
    }
  }
  return out;
}

std::string troubles_words(const report::RasState& state) {
  std::string out;
  for (std::size_t i = 0; i < state.troubles.size(); ++i) {
    add_name(out, i, fmt::format("{}: {}", state.troubles[i].asked, state.troubles[i].text));
  }
  return out.empty() ? "it knows no job" : out;
}

}  // namespace

RasFeed::RasFeed(std::vector<net::HostPort> addresses, collect::RasClientOptions options)
    : x_client(std::move(addresses), std::move(options)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) {
    x_wake = os::FileDescriptor(ends[0]);
    x_waker = os::FileDescriptor(ends[1]);
  }
  x_thread = std::thread([this] { work(); });
}

RasFeed::~RasFeed() {
  {
    const std::lock_guard lock(x_mutex);
    x_ending = true;
  }
  x_changed.notify_all();
  x_waker.close();  // the other end becomes readable
  x_thread.join();
}

void RasFeed::work() {
  std::unique_lock lock(x_mutex);
  for (;;) {
    x_changed.wait(lock, [&] { return x_asked || x_ending; });
    if (x_ending) return;
    x_asked = false;
    x_busy = true;
    lock.unlock();
    auto poll = std::make_shared<const collect::RasPoll>(x_client.poll(x_wake.get()));
    lock.lock();
    x_busy = false;
    x_result = std::move(poll);
    x_changed.notify_all();
  }
}

void RasFeed::ask() {
  const std::lock_guard lock(x_mutex);
  if (x_busy || x_asked) return;
  x_asked = true;
  x_changed.notify_all();
}

std::shared_ptr<const collect::RasPoll> RasFeed::take(const net::Deadline& deadline) {
  std::unique_lock lock(x_mutex);
  x_changed.wait_for(lock, std::min<std::chrono::nanoseconds>(deadline.left(), std::chrono::hours(1)),
                     [&] { return x_result != nullptr; });
  return std::exchange(x_result, nullptr);
}

void RasWatch::read(const report::RasState& state, std::int64_t now_ns) {
  Lags lags;
  std::size_t communicators = 0, advancing = 0;
  bool moved_now = false;
  for (const report::RasJobState& job : state.jobs) {
    for (std::size_t i = 0; i < job.communicators.size(); ++i) {
      const report::RasCommunicatorState& communicator = job.communicators[i];
      ++communicators;
      if (!communicator.movement) continue;
      if (communicator.movement->last_moved_ns) {
        x_signal.last_moved_ns =
            std::max(*communicator.movement->last_moved_ns, x_signal.last_moved_ns.value_or(0));
        moved_now = moved_now || *communicator.movement->last_moved_ns >= now_ns;
      }
      if (communicator.movement->movement == "frozen") lags.add(job.view.communicators[i], communicator);
      if (communicator.movement->movement == "advancing") ++advancing;
    }
  }
  x_signal.lags = lags.who;
  x_signal.lag_since_ns = lags.since_ns;
  x_signal.movement = moved_now        ? detect::RasMovement::kAdvancing
                      : lags.count > 0 ? detect::RasMovement::kLagging
                      : x_answers < 2  ? detect::RasMovement::kUnknown
                      : advancing > 0  ? detect::RasMovement::kAdvancing
                                       : detect::RasMovement::kStanding;
  x_signal.says = fmt::format("{}, {} advance",
                              report::counted(communicators, "communicator", "communicators"), advancing);
  if (lags.count > 0) x_signal.says += fmt::format(", {} lag", lags.count);
}

const detect::RasSignal& RasWatch::follow(const collect::RasPoll* poll, std::int64_t now_ns) {
  x_signal.fresh = poll != nullptr;
  if (poll == nullptr) {
    // One answer that is late is stood in for by the one before.
    if (x_answers > 0 && now_ns - x_answered_ns <= x_interval_ns * 5 / 2) return x_signal;
    x_signal.usable = false;
    x_signal.why_not = "did not answer yet";
    if (x_answers > 0) {
      x_signal.why_not =
          fmt::format("no answer for {:.0f} s", static_cast<double>(now_ns - x_answered_ns) / 1e9);
    }
    return x_signal;
  }
  report::RasState state = ras_state_of(*poll);
  x_signal.usable = !state.jobs.empty();
  x_signal.why_not = x_signal.usable ? std::string() : troubles_words(state);
  if (!x_signal.usable) return x_signal;
  ++x_answers;
  x_answered_ns = now_ns;
  x_tracks.follow(state, now_ns);
  x_signal.silent = processes_words(state, model::RasPresence::kUnresponsive);
  x_signal.lost = processes_words(state, model::RasPresence::kDead);
  read(state, now_ns);
  return x_signal;
}

}  // namespace unhang::cli
