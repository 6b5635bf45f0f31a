// SPDX-License-Identifier: Apache-2.0
//
// Cases that hold nothing but logs, for the tests of their detectors, in few lines:
//
//   LogCase c;
//   c.file("node1.dmesg").by({.host = "node1"});
//   c.says(LogEventKind::kXid, {.code = 79, .subject = "0000:b3:00"});
//   c.file("job.log").by({.global_rank = 3}).gives_up({.rank = 3, .group = "0", .sequence = 41});
//   EXPECT_EQ(c.told(find_log_device_fault), "process_or_device_unavailable/gpu_fallen_off_bus medium …");
//   EXPECT_EQ(c.verdict(), "…");
//
// Each call writes one line below the one before it in the same file. at() gives the time of the lines that
// follow. Files stand in the order of their names, as join/ hands them over, whatever the order of the calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "detect/detector.h"
#include "detect/resolve.h"
#include "model/case.h"
#include "model/cause.h"

namespace unhang::detect {

struct Said {
  std::int64_t code = 0;
  std::int32_t rank = -1;
  std::string subject = {}, peer = {}, detail = {}, text = {};
  std::uint32_t count = 1;
};

// As model::LogOrigin; what is left out is not known.
struct Writer {
  std::string host = {};
  std::int64_t pid = -1;
  std::int32_t global_rank = -1, cuda_device = -1;
  std::string label = {};
};

struct GivenUp {
  std::int32_t rank = -1;   // inside the group
  std::string group = "0";  // empty: not printed
  std::int64_t sequence = 41;
  std::string operation = "ALLREDUCE";
  std::int64_t in = 1024, out = -1;  // -1: as many as in
  std::int64_t last_enqueued = -1, last_completed = -1;
  std::int64_t timeout_ms = 600'000, ran_ms = 600'010;
  std::string description = {};  // empty: "default_pg" of group 0, else none
  std::int64_t collapsed = 0;
  bool cut = false;
};

struct Begun {
  std::int32_t rank = 0, ranks = 1;
  std::optional<std::uint64_t> id = 0xabc;
  model::CommunicatorPhase reached = model::CommunicatorPhase::kComplete;
  std::uint32_t p2p = 0, net = 0, socket = 0;  // channels
  std::int32_t nodes = -1;
};

class LogCase {
 public:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kStart = 1'700'000'000 * kSecond;

  // Where the lines that follow stand, who writes them, and in which start of the program.
  LogCase& file(std::string name) {
    const auto known = std::find(x_files.begin(), x_files.end(), name);
    x_file = static_cast<std::uint32_t>(known - x_files.begin());
    if (known == x_files.end()) x_files.push_back(std::move(name));
    return *this;
  }
  LogCase& by(Writer writer) {
    model::LogOrigin origin;
    origin.host = std::move(writer.host);
    origin.pid = writer.pid;
    origin.global_rank = writer.global_rank;
    origin.cuda_device = writer.cuda_device;
    origin.label = std::move(writer.label);
    auto& origins = x_log.origins;
    const auto known = std::find(origins.begin(), origins.end(), origin);
    x_origin = static_cast<std::uint32_t>(known - origins.begin());
    if (known == origins.end()) origins.push_back(std::move(origin));
    return *this;
  }
  LogCase& by_rank(std::int32_t rank, std::string host = {}) {
    return by({.host = std::move(host), .global_rank = rank});
  }
  LogCase& run_number(std::uint32_t run) {
    x_run = run;
    x_log.runs = std::max(x_log.runs, run + 1);
    return *this;
  }
  LogCase& at(std::int64_t seconds, model::LogClock clock = model::LogClock::kUtc) {
    x_time = {clock, kStart + seconds * kSecond};
    return *this;
  }

  LogCase& says(model::LogEventKind kind, Said said = {}) {
    model::LogEvent event;
    event.kind = kind;
    event.origin = writer();
    event.input = in_file();
    event.count = said.count;
    event.run = x_run;
    event.line = event.last_line = next_line();
    event.first = event.last = x_time;
    event.code = said.code;
    event.rank = said.rank;
    event.subject = std::move(said.subject);
    event.peer = std::move(said.peer);
    event.detail = std::move(said.detail);
    event.text = said.text.empty() ? std::string(model::name_of(kind)) : std::move(said.text);
    x_log.events.push_back(std::move(event));
    return *this;
  }

  LogCase& gives_up(GivenUp what) {
    model::WatchdogTimeout timeout;
    timeout.origin = writer();
    timeout.input = in_file();
    timeout.run = x_run;
    timeout.line = next_line();
    timeout.at = x_time;
    timeout.group_rank = what.rank;
    timeout.group_description =
        what.description.empty() && what.group == "0" ? "default_pg" : what.description;
    timeout.group = std::move(what.group);
    timeout.sequence = what.sequence;
    timeout.operation = std::move(what.operation);
    timeout.elements_in = what.in;
    timeout.elements_out = what.out < 0 ? what.in : what.out;
    timeout.timeout_ms = what.timeout_ms;
    timeout.ran_ms = what.ran_ms;
    timeout.last_enqueued = what.last_enqueued;
    timeout.last_completed = what.last_completed;
    timeout.collapsed = what.collapsed;
    timeout.cut = what.cut;
    x_log.timeouts.push_back(std::move(timeout));
    return *this;
  }
  // The ranks give up on the same work, each as a writer of its own.
  LogCase& give_up(const std::vector<std::int32_t>& ranks, const GivenUp& what = {}) {
    for (const std::int32_t rank : ranks) {
      GivenUp one = what;
      one.rank = rank;
      by_rank(rank).gives_up(std::move(one));
    }
    return *this;
  }

  // A communicator of the writer; the result stands for it in call().
  std::uint32_t communicator(const Begun& begun) {
    model::LogCommunicator made;
    made.origin = writer();
    made.input = in_file();
    made.run = x_run;
    made.started_line = made.last_line = next_line();
    made.started_at = made.last_at = x_time;
    made.id = begun.id;
    made.rank = begun.rank;
    made.ranks = begun.ranks;
    made.nodes = begun.nodes;
    made.phase = begun.reached;
    made.started = true;
    made.completed = begun.reached >= model::CommunicatorPhase::kComplete &&
                     begun.reached != model::CommunicatorPhase::kAborted;
    if (made.completed) made.completed_line = made.last_line = next_line();
    made.p2p_channels = begun.p2p;
    made.net_channels = begun.net;
    made.socket_channels = begun.socket;
    x_log.communicators.push_back(std::move(made));
    return static_cast<std::uint32_t>(x_log.communicators.size() - 1);
  }
  LogCase& call(std::uint32_t communicator, std::uint64_t op_count, std::string kind, std::uint64_t count,
                std::int32_t datatype = 7, std::int32_t root = -1) {
    x_log.calls.push_back({.communicator = communicator,
                           .op_count = op_count,
                           .kind = std::move(kind),
                           .count = count,
                           .datatype = datatype,
                           .op = 0,
                           .root = root,
                           .line = next_line()});
    return *this;
  }

  // For what the calls above do not make: tables, runs of tests.
  model::Log& log() { return x_log; }

  // As join/ gives it: files by name, facts by file and line.
  model::Case joined() const {
    model::Case out;
    out.logs = x_log;
    std::vector<std::uint32_t> order(x_files.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return x_files[a] < x_files[b]; });
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      out.inputs.push_back({x_files[order[i]], "text_log", {}});
    }
    const auto by_place = [](const auto& a, const auto& b) {
      return std::tuple(a.input, a.line) < std::tuple(b.input, b.line);
    };
    for (auto& event : out.logs.events) event.input = place[event.input];
    for (auto& timeout : out.logs.timeouts) timeout.input = place[timeout.input];
    std::stable_sort(out.logs.events.begin(), out.logs.events.end(), by_place);
    std::stable_sort(out.logs.timeouts.begin(), out.logs.timeouts.end(), by_place);
    sort_communicators(out.logs, place);
    for (const auto& [file, lines] : x_lines) out.logs.lines += lines;
    out.logs.recognised = out.logs.lines;
    return out;
  }

  // What one detector finds, in one line: "category/cause strength: culprits ? suspects", several joined by
  // "; ". A category that the catalogue of causes does not list for the cause shows too.
  std::string told(std::vector<Explanation> (*detector)(const Analysis&)) const {
    const model::Case joined_case = joined();
    return tell(detector(analyse(joined_case)));
  }
  std::vector<Explanation> run(std::vector<Explanation> (*detector)(const Analysis&)) const {
    const model::Case joined_case = joined();
    return detector(analyse(joined_case));
  }
  model::Verdict diagnosed() const { return diagnose(joined()); }
  // The same of the whole verdict; the confidence stands for the strength.
  std::string verdict() const {
    const model::Verdict v = diagnosed();
    return line_of(v.category, v.cause, v.confidence, v.culprits, v.suspects);
  }

  static std::string tell(const std::vector<Explanation>& found) {
    std::string out;
    for (const Explanation& e : found) {
      if (!out.empty()) out += "; ";
      out += line_of(e.category, e.cause, e.strength, e.other_culprits, e.other_suspects);
      if (e.tentative) out += " (tentative)";
      if (!e.explains_stall) out += " (no stall)";
      for (const model::Alternative& other : e.alternatives) {
        if (!in_catalogue(other.category, other.cause))
          out += " [alternative " + std::string(other.cause) + " not under its category]";
      }
      if (e.records.empty()) out += " [cites nothing]";
      if (!e.root.empty() && model::find_cause(e.root) == nullptr) out += " [unknown root " + e.root + "]";
    }
    return out.empty() ? "nothing" : out;
  }

  // "rank 3", "gpu 0000:b3:00 of node1", "nic mlx5_0 of node1", "node1", "rank 2 in tp".
  static std::string name(const model::Subject& subject) {
    std::string out;
    if (subject.kind == model::SubjectKind::kNic) {
      out = "nic " + subject.nic;
    } else if (subject.kind == model::SubjectKind::kGpu) {
      out = "gpu " + subject.gpu;
    } else if (subject.rank) {
      return "rank " + std::to_string(*subject.rank);
    } else if (subject.group_rank) {
      return "rank " + std::to_string(*subject.group_rank) + " in " + subject.group;
    } else {
      return subject.kind == model::SubjectKind::kProcess ? "process on " + subject.host : subject.host;
    }
    return subject.host.empty() ? out : out + " of " + subject.host;
  }

 private:
  static bool in_catalogue(model::Category category, std::string_view cause) {
    const model::CauseInfo* info = model::find_cause(cause);
    return info != nullptr &&
           std::find(info->categories.begin(), info->categories.end(), category) != info->categories.end();
  }

  static std::string line_of(model::Category category, std::string_view cause, model::Confidence strength,
                             const std::vector<model::Subject>& culprits,
                             const std::vector<model::Subject>& suspects) {
    std::string out = std::string(model::name_of(category)) + '/' + std::string(cause) + ' ' +
                      std::string(model::name_of(strength));
    for (std::size_t i = 0; i < culprits.size(); ++i) out += (i == 0 ? ": " : ", ") + name(culprits[i]);
    for (std::size_t i = 0; i < suspects.size(); ++i) out += (i == 0 ? " ? " : ", ") + name(suspects[i]);
    if (!in_catalogue(category, cause)) out += " [not a category of this cause]";
    return out;
  }

  static void sort_communicators(model::Log& log, const std::vector<std::uint32_t>& place) {
    auto& communicators = log.communicators;
    for (auto& communicator : communicators) communicator.input = place[communicator.input];
    std::vector<std::uint32_t> order(communicators.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(communicators[a].input, communicators[a].started_line) <
             std::tuple(communicators[b].input, communicators[b].started_line);
    });
    std::vector<model::LogCommunicator> sorted;
    std::vector<std::uint32_t> now_at(order.size());
    for (const std::uint32_t from : order) {
      now_at[from] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(communicators[from]);
    }
    communicators = std::move(sorted);
    for (auto& call : log.calls) call.communicator = now_at[call.communicator];
  }

  std::uint32_t in_file() {
    if (x_files.empty()) file("job.log");
    return x_file;
  }
  std::uint32_t writer() {
    if (x_log.origins.empty()) by({});
    return x_origin;
  }
  std::uint64_t next_line() { return ++x_lines[in_file()]; }

  model::Log x_log;
  std::vector<std::string> x_files;
  std::map<std::uint32_t, std::uint64_t> x_lines;
  std::uint32_t x_file = 0, x_origin = 0, x_run = 0;
  model::LogTime x_time;
};

}  // namespace unhang::detect
