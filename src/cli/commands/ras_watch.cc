// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <poll.h>

#include "base/duration.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/ras_flags.h"
#include "cli/ras_state_of.h"
#include "os/interrupt.h"
#include "report/ras_json.h"
#include "report/ras_screen.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kFrozenAtLeast = std::chrono::seconds(5);

// Wall clock for people that never goes back, whatever is done to the machine's clock meanwhile.
class SteadyWallClock {
 public:
  std::int64_t now_ns() const {
    const nanoseconds passed = net::steady_now() - x_start;
    return (x_wall + passed).count();
  }

 private:
  net::SteadyTime x_start = net::steady_now();
  nanoseconds x_wall = std::chrono::system_clock::now().time_since_epoch();
};

std::string job_words(const report::RasJobState& job) {
  const auto processes = job.view.processes
                             ? static_cast<std::size_t>(std::max<std::int64_t>(*job.view.processes, 0))
                             : model::known_processes(job.view);
  return fmt::format("NCCL {}: {}, {}", job.view.nccl_version,
                     report::counted(processes, "process", "processes"),
                     report::counted(job.view.communicators.size(), "communicator", "communicators"));
}

// Prints a line for each thing that is not as it was in the poll before.
class Changes {
 public:
  std::string lines(const report::RasState& state) {
    x_text.clear();
    x_time = base::utc_text(state.time_ns.value_or(0)).substr(0, 19) + "Z";
    std::map<std::string, std::string> now;
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
      const report::RasJobState& job = state.jobs[i];
      tell(now, fmt::format("job {}", i), job_words(job));
      for (std::size_t c = 0; c < job.communicators.size(); ++c) {
        const model::RasCommunicator& communicator = job.view.communicators[c];
        const report::RasCommunicatorState& state_now = job.communicators[c];
        const bool news = (state_now.movement && state_now.movement->movement != "unknown") ||
                          !state_now.laggards.empty() || !state_now.other_operation.empty() || state_now.tie;
        const std::string key = model::hash_text(communicator.hash) + communicator.secondary_hash;
        // That nothing is known yet is no news; that it is not known any more is.
        if (!news && x_before.count(key) == 0 && report::look_of(job) != report::RasLook::kBad) continue;
        tell(now, key, report::movement_words(communicator, job.communicators[c]));
      }
    }
    for (const report::RasTroubleState& trouble : state.troubles)
      tell(now, "trouble " + trouble.text, trouble.text);
    for (const std::string& note : state.notes) tell(now, "note " + note, "note: " + note);
    x_before = std::move(now);
    return x_text;
  }

 private:
  void tell(std::map<std::string, std::string>& now, const std::string& key, const std::string& words) {
    const auto before = x_before.find(key);
    if (before == x_before.end() || before->second != words)
      x_text += x_time + "  " + report::one_line(words) + "\n";
    now[key] = words;
  }

  std::map<std::string, std::string> x_before;
  std::string x_text;
  std::string x_time;
};

class RasWatchCommand final : public CommandBase {
 public:
  Command describe() override {
    Command command{
        .name = "ras watch",
        .group = "Look at a live job",
        .summary = "ask again and again: who advances, who lags, since when",
        .description =
            "Asks as 'unhang ras status' does, every --interval, and compares. A communicator is advancing "
            "when its "
            "counts grow, lagging when some ranks stay behind while others went on, frozen when nothing "
            "grows though "
            "work waits, idle when nothing is to be done. Where the counts cannot tell, it is unknown, and "
            "the reason "
            "is said.\n\n"
            "On a terminal the screen is drawn anew; elsewhere a line is printed for each change.",
        .flags =
            {{.name = "--interval",
              .value = "DURATION",
              .help = "time between two polls",
              .target = &x_interval},
             {.name = "--duration",
              .value = "DURATION",
              .help = "end after that time",
              .target = &x_duration},
             {.name = "--count", .value = "N", .help = "end after N polls", .target = &x_count, .minimum = 1},
             {.name = "--verbose", .short_name = "-v", .help = "every rank", .target = &x_verbose},
             {.name = "--json",
              .help = "one line of JSON for each poll (schema unhang.ras/1)",
              .target = &x_json,
              .group = "Output"}},
        .examples = {{"unhang ras watch", "The job on this machine, until Ctrl-C."},
                     {"unhang ras watch --count 5 --json", "Five polls for a script."}},
        .exit_notes = {
            {kExitOk, "at its end everything advanced or was idle"},
            {kExitStopped, "at its end a process was lost, or ranks stood still behind the others"},
            {kExitUnknown, "at its end it could not be told"},
            {kExitUnavailable, "at its end nobody answered, or the release must not be asked"},
            {kExitDeadline, "at its end there was no answer before the deadline"}}};
    for (Flag& flag : x_ras.flags()) command.flags.push_back(std::move(flag));
    return command;
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    auto addresses = ras_addresses(x_ras);
    if (!addresses) return complain(streams, addresses.error());
    auto options = ras_client_options(x_ras);
    if (!options) return complain(streams, options.error());
    if (x_interval < std::chrono::milliseconds(100))
      return complain(streams, {base::ErrorCode::kUsage, "flag --interval: at least 100ms"});
    options->verbose = true;
    const os::Interrupt interrupt;
    collect::RasClient client(std::move(*addresses), std::move(*options));
    return watch(client, interrupt, streams);
  }

 private:
  int watch(collect::RasClient& client, const os::Interrupt& interrupt, Streams& streams) const {
    const SteadyWallClock clock;
    const net::Deadline end = x_duration ? net::Deadline::in(*x_duration) : net::Deadline::never();
    RasJobTracks tracks(std::max(kFrozenAtLeast, 2 * x_interval).count());
    Changes changes;
    int code = kExitUnavailable;
    for (std::int64_t poll_number = 1;; ++poll_number) {
      const net::Deadline next = net::Deadline::in(x_interval);
      const collect::RasPoll poll = client.poll(interrupt.fd());
      if (poll.interrupted) return code;
      report::RasState state = ras_state_of(poll);
      state.time_ns = clock.now_ns();
      tracks.follow(state, *state.time_ns);
      code = ras_exit_code(state);
      show(state, changes, streams);
      const bool all_refused = std::all_of(poll.replies.begin(), poll.replies.end(),
                                           [](const auto& reply) { return reply.refused; });
      if (all_refused || (x_count && poll_number >= *x_count) || !streams.out.is_open()) return code;
      if (!wait(next.or_sooner(end), interrupt) || end.passed()) return code;
    }
  }

  // False when interrupted.
  static bool wait(const net::Deadline& until, const os::Interrupt& interrupt) {
    while (!until.passed() && !interrupt.happened()) {
      pollfd watched{interrupt.fd(), POLLIN, 0};
      (void)::poll(&watched, 1, until.poll_milliseconds());
    }
    return !interrupt.happened();
  }

  void show(const report::RasState& state, Changes& changes, Streams& streams) const {
    if (x_json) return streams.out.write(report::render_ras_json(state, report::JsonLayout::kLine));
    if (!streams.out.is_terminal()) return streams.out.write(changes.lines(state));
    constexpr const char* kHomeAndClear = "\x1b[H\x1b[2J";
    streams.out.write(kHomeAndClear +
                      report::render_ras_screen(state, {streams.width, streams.color, x_verbose}) +
                      fmt::format("\nevery {}; Ctrl-C ends\n", base::format_duration(x_interval)));
  }

  RasFlags x_ras;
  nanoseconds x_interval = std::chrono::seconds(2);
  std::optional<nanoseconds> x_duration;
  std::optional<std::int64_t> x_count;
  bool x_verbose = false;
  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_ras_watch_command() {
  return std::make_unique<RasWatchCommand>();
}

}  // namespace unhang::cli
