// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include "base/duration.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "cli/exit_codes.h"
#include "cli/nccl_version_flag.h"
#include "cli/watch_capture.h"
#include "cli/watch_ras.h"
#include "cli/watch_sources.h"
#include "collect/ras_addresses.h"
#include "detect/instance_state.h"
#include "formats/engine_metrics/engine_metrics.h"
#include "os/interrupt.h"
#include "report/text_layout.h"
#include "report/watch_line.h"

namespace unhang::cli {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr nanoseconds kShortestInterval = std::chrono::milliseconds(100);
constexpr nanoseconds kLongestPage = std::chrono::seconds(5);
constexpr nanoseconds kShortestPage = std::chrono::seconds(1);
constexpr int kHealthRounds = 15;  // a healthy engine's /health is asked this seldom

// Nanoseconds since 1970 that never fall, whatever is done to the wall clock meanwhile.
class WallClock {
 public:
  std::int64_t now_ns() const {
    return x_wall + std::chrono::duration_cast<nanoseconds>(steady_clock::now() - x_steady).count();
  }

 private:
  steady_clock::time_point x_steady = steady_clock::now();
  std::int64_t x_wall =
      std::chrono::duration_cast<nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
};

// One engine address over time.
struct EngineWatch {
  detect::EngineProgress progress;
  detect::EngineReading reading;

  void follow(const collect::EngineReply& reply, std::int64_t now_ns) {
    reading.health = reply.health;
    formats::Evidence evidence;
    if (!reply.page.empty()) formats::engine_metrics::parse(reply.page, evidence);
    if (!evidence.engine_samples.empty()) {
      const model::EngineSample& sample = evidence.engine_samples.front();
      if (sample.engine != model::EngineKind::kUnknown) reading.kind = sample.engine;
      progress.observe(sample, now_ns);
    } else {
      progress.no_answer(reply.trouble.empty() ? "its page is empty or cannot be read" : reply.trouble,
                         now_ns);
    }
    reading.judgement = progress.state();
    reading.ever_answered = progress.ever_answered();
  }

  bool is_well() const {
    const detect::EngineMovement movement = reading.judgement.movement;
    return movement == detect::EngineMovement::kAdvancing || movement == detect::EngineMovement::kIdle;
  }
};

struct InstanceWatch {
  WatchedInstance sources;
  detect::InstanceTracker tracker;
  std::optional<RasWatch> ras;
  std::optional<model::State> before;
};

class WatchCommand final : public CommandBase {
 public:
  Command describe() override;
  int run(const std::vector<std::string>& arguments, Streams& streams) override;

 private:
  base::Result<> check();
  void begin(WatchSources sources, const collect::RasClientOptions& ras);
  void round(int fd, Streams& streams);
  void ask_engines(int fd, std::int64_t& now_ns);
  void show(const std::vector<std::size_t>& changed, std::int64_t now_ns, Streams& streams);
  void show_captures(Streams& streams);
  void capture(const InstanceWatch& instance, std::int64_t now_ns);
  // Until the next round is due; false when the watch is to end.
  bool wait(const os::Interrupt& interrupt, steady_clock::time_point begin) const;

  std::vector<std::string> x_ras, x_engines;
  std::string x_name, x_nccl_version, x_folder = ".";
  std::string x_on_stall = "nothing";
  nanoseconds x_interval = std::chrono::seconds(2);
  nanoseconds x_silence = std::chrono::seconds(30);
  nanoseconds x_budget = std::chrono::seconds(25);
  std::optional<nanoseconds> x_duration, x_timeout;
  std::optional<std::int64_t> x_count;
  bool x_json = false;

  WallClock x_clock;
  std::int64_t x_rounds = 0;
  std::optional<collect::NcclRelease> x_release;
  std::vector<InstanceWatch> x_instances;
  std::vector<model::InstanceState> x_states;
  std::vector<EngineWatch> x_engine_watches;
  std::unique_ptr<collect::EngineClient> x_client;
  std::unique_ptr<RasFeed> x_feed;
  std::unique_ptr<StallCaptures> x_captures;
  std::size_t x_screen_lines = 0;  // that are on the terminal and will be drawn over
};

Command WatchCommand::describe() {
  return {
      .name = "watch",
      .group = "Look at a live job",
      .summary = "tell slow from stopped, as it happens",
      .description =
          "Asks NCCL's RAS service and the engine's own counters again and again, and says for each instance "
          "whether it is advancing, slow, stopped, dead, idle or starting, since when, which signal moved "
          "last "
          "and who lags. Where no usable signal is left the state is unknown, never stopped.\n\n"
          "A steady stream of tokens that stops is reported at the second reading without any. An engine "
          "that "
          "has just begun to work may be reading a long prompt: it has longer (--silence). RAS counts that "
          "stand while tokens move are blind (CUDA graphs) and say nothing. /health that answers 200 "
          "meanwhile is "
          "shown as what it is.\n\n"
          "Sources without a name belong to one instance; NAME=ADDRESS watches several. A source that fails "
          "is said to be unusable and the others go on. It ends after --count readings or --duration, or "
          "with "
          "Ctrl-C; the exit status is that of the worst instance at the end.",
      .flags =
          {{.name = "--engine",
            .value = "URL",
            .help = "an engine's address or metric page, http://HOST:PORT, or a file; [NAME=]URL, may be "
                    "repeated",
            .target = &x_engines,
            .group = "Sources"},
           {.name = "--ras",
            .value = "ADDR",
            .help = "HOST:PORT[,…] of a RAS service; [NAME=]ADDR, may be repeated",
            .target = &x_ras,
            .group = "Sources"},
           {.name = "--name",
            .value = "INSTANCE",
            .help = "what to call the instance",
            .target = &x_name,
            .group = "Sources"},
           {.name = "--nccl-version",
            .value = "VERSION",
            .help = kNcclVersionHelp,
            .target = &x_nccl_version,
            .group = "Sources"},
           {.name = "--interval", .value = "TIME", .help = "between two readings", .target = &x_interval},
           {.name = "--silence",
            .value = "TIME",
            .help = "how long requests may run without a token where the history does not say",
            .target = &x_silence},
           {.name = "--timeout",
            .value = "TIME",
            .help = "how long one RAS answer may take (else 15s, more with NCCL_RAS_TIMEOUT_FACTOR)",
            .target = &x_timeout},
           {.name = "--count",
            .value = "N",
            .help = "end after N readings",
            .target = &x_count,
            .minimum = 1},
           {.name = "--duration", .value = "TIME", .help = "end after this time", .target = &x_duration},
           {.name = "--on-stall",
            .value = "WHAT",
            .help = "when an instance stops or dies",
            .target = &x_on_stall,
            .choices = {"nothing", "capture"}},
           {.name = "--capture-dir",
            .value = "DIR",
            .help = "captures become folders in there",
            .target = &x_folder,
            .is_path = true},
           {.name = "--capture-budget",
            .value = "TIME",
            .help = "how long a capture may take",
            .target = &x_budget},
           {.name = "--json",
            .help = "one JSON object a reading and instance (schema unhang.watch/1)",
            .target = &x_json,
            .group = "Output"}},
      .examples = {{"unhang watch --ras localhost:28028 --engine http://localhost:8000",
                    "One instance, both signals."},
                   {"unhang watch --engine a=http://node3:8000 --engine b=http://node4:8000",
                    "Two instances."},
                   {"unhang watch --engine http://localhost:8000 --on-stall capture",
                    "Keep the evidence of a stall before anybody kills the job."}},
      .gives_verdict = true};
}

base::Result<> WatchCommand::check() {
  const auto usage = [](std::string text) { return base::fail(base::ErrorCode::kUsage, std::move(text)); };
  if (x_interval < kShortestInterval) {
    return usage(fmt::format("--interval: less than {} loads the engine for nothing",
                             base::format_duration(kShortestInterval)));
  }
  if (x_silence < x_interval) return usage("--silence: less than the interval between two readings");
  if (x_timeout && x_timeout->count() == 0) return usage("--timeout: 0 leaves no time for an answer");
  if (x_budget < kShortestInterval) return usage("--capture-budget: less than 100ms is no time at all");
  if (!x_nccl_version.empty()) {
    const auto release = nccl_version_of(x_nccl_version);
    if (!release) return base::fail(release.error());
    x_release = *release;
  }
  return {};
}

void WatchCommand::begin(WatchSources sources, const collect::RasClientOptions& ras) {
  detect::EngineWindows windows;
  windows.interval_ns = x_interval.count();
  windows.long_ns = x_silence.count();
  windows.longest_ns = std::max(windows.longest_ns, windows.long_ns * 4);
  for (const collect::EngineEndpoint& engine : sources.engines) {
    EngineWatch watch{detect::EngineProgress(windows), {}};
    watch.reading.name =
        sources.engines.size() == sources.instances.size() ? "engine" : "engine " + engine.shown;
    x_engine_watches.push_back(std::move(watch));
  }
  x_client = std::make_unique<collect::EngineClient>(std::move(sources.engines));
  for (WatchedInstance& instance : sources.instances) {
    const std::string name = instance.name;
    const bool asks_ras = !instance.ras.empty();
    x_instances.push_back(
        {std::move(instance), detect::InstanceTracker(name, windows), std::nullopt, std::nullopt});
    if (asks_ras) x_instances.back().ras.emplace(x_interval.count());
  }
  x_states.resize(x_instances.size());
  if (!sources.ras.empty()) x_feed = std::make_unique<RasFeed>(std::move(sources.ras), ras);
  if (x_on_stall == "capture") {
    x_captures = std::make_unique<StallCaptures>(StallCaptures::Settings{x_folder, x_budget, x_release});
  }
}

void WatchCommand::ask_engines(int fd, std::int64_t& now_ns) {
  std::vector<bool> ask_health;
  for (const EngineWatch& engine : x_engine_watches) {
    ask_health.push_back(x_rounds % kHealthRounds < 2 || !engine.is_well());
  }
  const nanoseconds time = std::clamp(x_interval, kShortestPage, kLongestPage);
  const std::vector<collect::EngineReply> replies = x_client->poll(ask_health, time, fd);
  now_ns = x_clock.now_ns();
  for (std::size_t i = 0; i < replies.size(); ++i) x_engine_watches[i].follow(replies[i], now_ns);
}

// Which replies came from each address that was asked.
using RepliesByAddress = std::unordered_map<std::string_view, std::vector<const collect::RasReply*>>;

RepliesByAddress by_address(const collect::RasPoll& poll) {
  RepliesByAddress replies;
  for (const collect::RasReply& reply : poll.replies) replies[reply.asked].push_back(&reply);
  return replies;
}

// The replies of some addresses.
collect::RasPoll part_of(const RepliesByAddress& replies, const std::vector<net::HostPort>& addresses) {
  collect::RasPoll part;
  for (const net::HostPort& address : addresses) {
    const auto found = replies.find(address.text());
    if (found == replies.end()) continue;
    for (const collect::RasReply* reply : found->second) part.replies.push_back(*reply);
  }
  return part;
}

void WatchCommand::round(int fd, Streams& streams) {
  if (x_feed) x_feed->ask();
  const net::Deadline ras_deadline =
      net::Deadline::in(std::min<nanoseconds>(x_interval / 2, std::chrono::seconds(1)));
  std::int64_t now_ns = x_clock.now_ns();
  if (!x_engine_watches.empty()) ask_engines(fd, now_ns);
  const auto poll = x_feed ? x_feed->take(ras_deadline) : nullptr;
  const RepliesByAddress replies = poll ? by_address(*poll) : RepliesByAddress();
  now_ns = x_clock.now_ns();
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < x_instances.size(); ++i) {
    InstanceWatch& instance = x_instances[i];
    std::optional<detect::RasSignal> ras;
    if (instance.ras) {
      std::optional<collect::RasPoll> part;
      if (poll) part = part_of(replies, instance.sources.ras);
      ras = instance.ras->follow(part ? &*part : nullptr, now_ns);
    }
    std::vector<detect::EngineReading> readings;
    for (const std::size_t engine : instance.sources.engines)
      readings.push_back(x_engine_watches[engine].reading);
    x_states[i] = instance.tracker.update(readings, ras, now_ns);
    if (instance.before != x_states[i].state) changed.push_back(i);
  }
  show(changed, now_ns, streams);
  for (const std::size_t i : changed) {
    const bool bad = x_states[i].state == model::State::kStopped || x_states[i].state == model::State::kDead;
    if (bad && x_captures) capture(x_instances[i], now_ns);
    x_instances[i].before = x_states[i].state;
  }
  show_captures(streams);
  ++x_rounds;
}

void WatchCommand::capture(const InstanceWatch& instance, std::int64_t now_ns) {
  std::vector<std::string> engines, ras;
  for (const std::size_t engine : instance.sources.engines) {
    const collect::EngineEndpoint& endpoint = x_client->endpoints()[engine];
    if (endpoint.file.empty()) engines.push_back(endpoint.given);
  }
  for (const net::HostPort& address : instance.sources.ras) ras.push_back(address.text());
  x_captures->begin(instance.sources.name, std::move(engines), std::move(ras), now_ns);
}

void WatchCommand::show(const std::vector<std::size_t>& changed, std::int64_t now_ns, Streams& streams) {
  const report::WatchOptions options{streams.width, streams.color, now_ns};
  std::string out;
  if (x_json) {
    for (std::size_t i = 0; i < x_states.size(); ++i) {
      const bool is_new = std::find(changed.begin(), changed.end(), i) != changed.end();
      out += report::watch_json(x_states[i], is_new, now_ns);
    }
  } else if (streams.out.is_terminal()) {
    if (x_screen_lines > 0) out += fmt::format("\x1b[{}A\x1b[J", x_screen_lines);
    const std::vector<std::string> lines = report::watch_screen(x_states, options);
    for (const std::string& line : lines) out += line;
    x_screen_lines = lines.size();
  } else {
    for (const std::size_t i : changed)
      out += report::watch_change(x_states[i], x_instances[i].before, options);
  }
  if (!out.empty()) streams.out.write(out);
}

void WatchCommand::show_captures(Streams& streams) {
  if (!x_captures) return;
  for (const StallCaptures::Done& done : x_captures->take_done()) {
    if (x_json) {
      streams.out.write(
          report::watch_capture_json(done.instance, done.folder, done.trouble, x_clock.now_ns()));
      continue;
    }
    const std::string instance = report::one_line(done.instance), folder = report::one_line(done.folder);
    streams.err.write(
        done.trouble.empty()
            ? fmt::format("{}: captured; next: unhang diagnose {}\n", instance, folder)
            : fmt::format("{}: not captured: {} ({})\n", instance, report::one_line(done.trouble), folder));
    x_screen_lines = 0;  // it stands between; draw below it
  }
}

bool WatchCommand::wait(const os::Interrupt& interrupt, steady_clock::time_point begin) const {
  if (interrupt.happened() || (x_count && x_rounds >= *x_count)) return false;
  const auto now = steady_clock::now();
  // Rounds that were missed are not made up for.
  auto due = begin + x_rounds * x_interval;
  if (due < now) due = now + x_interval - (now - begin) % x_interval;
  if (x_duration && due - begin > *x_duration) return false;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - steady_clock::now()).count();
    if (left <= 0) return !interrupt.happened();
    pollfd signal{interrupt.fd(), POLLIN, 0};
    constexpr std::int64_t kLongest = 60'000;
    ::poll(&signal, interrupt.fd() >= 0 ? 1 : 0, static_cast<int>(std::min<std::int64_t>(left, kLongest)));
    if (interrupt.happened()) return false;
  }
}

int WatchCommand::run(const std::vector<std::string>&, Streams& streams) {
  if (const auto checked = check(); !checked) return complain(streams, checked.error());
  auto sources = watch_sources(x_ras, x_engines, x_name);
  if (!sources) return complain(streams, sources.error());
  collect::RasClientOptions ras;
  ras.timeout = x_timeout.value_or(collect::default_ras_timeout(std::getenv("NCCL_RAS_TIMEOUT_FACTOR")));
  ras.release = x_release;
  const os::Interrupt interrupt;
  begin(std::move(*sources), ras);
  const auto start = steady_clock::now();
  do {
    round(interrupt.fd(), streams);
  } while (streams.out.is_open() && wait(interrupt, start));
  // The evidence is what it was for: the watch may be over, the capture is not. It has a budget of its own.
  while (x_captures && !interrupt.happened() && x_captures->wait(std::chrono::milliseconds(100))) {
  }
  const int code = model::exit_code(x_states);
  show_captures(streams);
  return code;
}

}  // namespace

std::unique_ptr<CommandBase> make_watch_command() {
  return std::make_unique<WatchCommand>();
}

}  // namespace unhang::cli
