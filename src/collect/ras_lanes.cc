// SPDX-License-Identifier: Apache-2.0
#include "collect/ras_lanes.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "collect/job_coverage.h"

namespace unhang::collect {
namespace {

constexpr int kMostReports = 16;                   // of one address, until all its processes were heard of
constexpr int kRemoteReports = 3;                  // where nobody can see who listens
constexpr int kExtraShare = 3;                     // of the time, for further reports once there is one
constexpr int kMostAttempts = 11;                  // for one report, where many processes share the port
constexpr int kLongestLeg = 5;                     // seconds; NCCL's own default
constexpr int kHardStopSeconds = 5;                // which the service may take beyond that
constexpr NcclRelease kFullTextRelease{2, 26, 0};  // from here on VERBOSE only makes a known bug worse

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What the service is told to wait for others, so that its answer comes before our own deadline.
int leg_seconds(std::chrono::nanoseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  return static_cast<int>(std::clamp<std::int64_t>(seconds - 2 * kHardStopSeconds, 1, kLongestLeg));
}

std::string mute_text(int mute, int attempts) {
  return fmt::format("{} of {} connections {} accepted and never answered: a stopped process behind the port",
                     mute, attempts, mute == 1 ? "was" : "were");
}

}  // namespace

struct RasLanes::Lane {
  Group& group;
  net::SocketAddress address;
  std::string where;
  std::vector<std::unique_ptr<RasReport>> connections =
      {};  // also ended ones: they may still be on the stack
  int reports = 0;
  bool verbose_was_tried = false;
  // Of the report that is under way:
  bool verbose = false;
  int attempts = 0, mute = 0;
  bool had_a_part = false;
  std::int64_t started_ns = 0;
  net::SteadyTime started = {};
};

struct RasLanes::Group {
  RasClient::Target* target = nullptr;  // null: refused
  std::vector<std::unique_ptr<Lane>> lanes = {};
  std::vector<RasReply> reports = {};
  std::vector<RasReply> failures = {};
  JobCoverage coverage = {};
};

RasLanes::RasLanes(const RasClientOptions& options, const net::Deadline& deadline)
    : x_options(options),
      x_deadline(deadline),
      x_extra_deadline(deadline.or_sooner(options.timeout / kExtraShare)) {}
RasLanes::~RasLanes() = default;

void RasLanes::note(std::string text) {
  if (std::find(x_notes.begin(), x_notes.end(), text) == x_notes.end()) x_notes.push_back(std::move(text));
}

void RasLanes::refuse(const RasClient::Target& target, std::string why) {
  auto group = std::make_unique<Group>();
  RasReply reply;
  reply.asked = target.asked.text();
  reply.trouble = std::move(why);
  reply.refused = true;
  reply.started_ns = wall_clock_ns();
  group->failures.push_back(std::move(reply));
  x_groups.push_back(std::move(group));
}

void RasLanes::add(RasClient::Target& target) {
  x_groups.push_back(std::make_unique<Group>());
  Group& group = *x_groups.back();
  group.target = &target;
  if (target.addresses.empty()) {
    RasReply reply;
    reply.asked = target.asked.text();
    reply.trouble = target.resolve_trouble;
    reply.started_ns = wall_clock_ns();
    group.failures.push_back(std::move(reply));
    return;
  }
  for (const net::SocketAddress& address : target.addresses) {
    group.lanes.push_back(std::make_unique<Lane>(Lane{group, address, address.text()}));
    begin_report(*group.lanes.back(), false);
  }
}

RasAsk RasLanes::ask_for(const Lane& lane) const {
  const RasPermission permission = ras_safety(lane.group.target->release).permission;
  RasAsk ask;
  ask.may_text = x_options.force || permission == RasPermission::kAll;
  ask.handshake = x_options.handshake;
  ask.deadline = x_deadline;
  ask.leg_seconds = leg_seconds(x_options.timeout);
  return ask;
}

void RasLanes::begin_report(Lane& lane, bool verbose) {
  const auto& release = lane.group.target->release;
  lane.verbose = verbose || (x_options.verbose && release && *release < kFullTextRelease);
  lane.verbose_was_tried = lane.verbose_was_tried || lane.verbose;
  lane.attempts = lane.mute = 0;
  lane.had_a_part = false;
  lane.started_ns = wall_clock_ns();
  lane.started = x_options.now();
  connect(lane);
}

void RasLanes::connect(Lane& lane) {
  ++lane.attempts;
  lane.connections.push_back(std::make_unique<RasReport>(ask_for(lane), lane.verbose));
  RasReport& report = *lane.connections.back();
  report.when_ended([this, &lane, &report] { on_end(lane, report); });
  x_conversations.start(
      {lane.address, &report, x_deadline.or_sooner(x_options.handshake), x_options.max_bytes});
}

void RasLanes::on_end(Lane& lane, RasReport& report) {
  switch (report.outcome()) {
    case RasOutcome::kAnswered:
      return on_report(lane, report);
    case RasOutcome::kCancelled:
      x_interrupted = true;
      break;
    case RasOutcome::kMute:
      ++lane.mute;
      break;
    default:
      break;
  }
  // Another job behind the port is looked for, and may have only stopped processes: not worth all the time.
  if (!lane.group.reports.empty() && x_extra_deadline.passed()) return;
  const bool may_pass = report.outcome() == RasOutcome::kMute || report.outcome() == RasOutcome::kLost;
  if (may_pass && lane.attempts < most_attempts(lane) && !x_deadline.passed()) return connect(lane);
  on_failure(lane, report);
}

int RasLanes::most_attempts(const Lane& lane) const {
  const int processes =
      static_cast<int>(std::min<std::size_t>(lane.group.target->listeners.size(), kMostReports));
  const int shared = processes > 1 ? std::min(2 * processes, kMostAttempts) : 0;
  return std::max(1 + x_options.retries, shared);
}

RasReply RasLanes::reply_of(const Lane& lane) const {
  RasReply reply;
  reply.asked = lane.group.target->asked.text();
  reply.resolved = lane.where;
  reply.attempts = lane.attempts;
  reply.mute = lane.mute;
  reply.started_ns = lane.started_ns;
  reply.elapsed = x_options.now() - lane.started;
  return reply;
}

void RasLanes::on_report(Lane& lane, RasReport& report) {
  RasReply reply = reply_of(lane);
  reply.bytes = report.take_bytes();
  reply.is_json = report.is_json();
  reply.complete = report.complete();
  reply.trouble = report.trouble();
  reply.deadline = !reply.complete && x_deadline.passed();
  Group& group = lane.group;
  if (lane.mute > 0) note(fmt::format("{}: {}", lane.where, mute_text(lane.mute, lane.attempts)));
  if (!group.target->release) {
    group.target->release = release_of_answer(reply.bytes);
    if (group.target->release) group.target->release_source = "its first answer says so";
  }
  // Reading it costs more than hearing it: only where the answer steers what is asked next.
  const bool shared = group.target->listeners.size() > 1 && !x_options.connections;
  if (shared || (x_options.verbose && !reply.is_json)) group.coverage.add(reply.bytes);
  const bool whole = reply.complete;
  group.reports.push_back(std::move(reply));
  // The process died in the middle, perhaps: another one may know more.
  const bool again_for_the_rest = !whole && !lane.had_a_part && lane.attempts < most_attempts(lane);
  if (!whole && (x_deadline.passed() || !again_for_the_rest)) return;
  if (!may_ask_again(lane)) return;
  if (!whole) {
    lane.had_a_part = true;
    return connect(lane);
  }
  ++lane.reports;
  const auto& release = group.target->release;
  const bool names_in_verbose = x_options.verbose && !report.is_json() && !lane.verbose_was_tried &&
                                release && *release < kFullTextRelease && group.coverage.text_names_less();
  if (names_in_verbose) return begin_report(lane, true);
  if (wants_another(lane)) begin_report(lane, lane.verbose);
}

bool RasLanes::wants_another(const Lane& lane) const {
  if (x_extra_deadline.passed()) return false;
  if (x_options.connections) return lane.reports < *x_options.connections;
  const auto& listeners = lane.group.target->listeners;
  if (listeners.empty()) return lane.reports < kRemoteReports;
  if (listeners.size() == 1 || lane.group.coverage.covers(listeners)) return false;
  return lane.reports < kMostReports;
}

bool RasLanes::may_ask_again(const Lane& lane) {
  const RasClient::Target& target = *lane.group.target;
  const RasSafety safety = ras_safety(target.release);
  if (x_options.force || safety.permission != RasPermission::kNone) return true;
  note(fmt::format("{}: its answer showed a release that should not be asked, and it is not asked again: {}",
                   lane.where, safety.reason));
  return false;
}

void RasLanes::on_failure(Lane& lane, const RasReport& report) {
  RasReply reply = reply_of(lane);
  reply.trouble = report.trouble();
  // Also where it was our time, and not the number of attempts, that ended it.
  const bool may_pass = report.outcome() == RasOutcome::kMute || report.outcome() == RasOutcome::kLost;
  reply.deadline = report.outcome() == RasOutcome::kDeadline || (may_pass && x_deadline.passed());
  if (lane.mute > 0) {
    reply.trouble = fmt::format("{}: {}", lane.where, mute_text(lane.mute, lane.attempts));
  } else if (report.outcome() == RasOutcome::kNoJson) {
    reply.refused = true;
    reply.trouble =
        fmt::format("{}: not asked for text, and it has no JSON: {} ({})", lane.where,
                    ras_safety(lane.group.target->release).reason, lane.group.target->release_source);
  } else if (reply.trouble.find(lane.where) == std::string::npos) {
    reply.trouble = fmt::format("{}: {}", lane.where, reply.trouble);
  }
  lane.group.failures.push_back(std::move(reply));
}

void RasLanes::hand_over(Group& group, RasPoll& poll) {
  std::vector<std::string> seen;
  for (RasReply& reply : group.reports) {
    if (group.reports.size() > 1) {
      std::string same = without_times(reply.bytes);
      if (std::find(seen.begin(), seen.end(), same) != seen.end()) continue;
      seen.push_back(std::move(same));
    }
    poll.replies.push_back(std::move(reply));
  }
  if (!group.reports.empty()) {
    // That a name has addresses where nobody listens is ordinary once one of them answered.
    for (const RasReply& failure : group.failures) {
      if (failure.mute > 0 || failure.refused) note(failure.trouble);
    }
    return;
  }
  if (group.failures.empty()) return;
  RasReply all = group.failures.front();
  for (std::size_t i = 1; i < group.failures.size(); ++i) {
    const RasReply& other = group.failures[i];
    all.trouble += "; " + other.trouble;
    all.attempts += other.attempts;
    all.mute += other.mute;
    all.refused = all.refused || other.refused;
    all.deadline = all.deadline || other.deadline;
    all.elapsed = std::max(all.elapsed, other.elapsed);
  }
  poll.replies.push_back(std::move(all));
}

RasPoll RasLanes::run(int wake_fd) {
  x_conversations.run(x_deadline, wake_fd);
  RasPoll poll;
  for (const auto& group : x_groups) hand_over(*group, poll);
  poll.notes = std::move(x_notes);
  poll.interrupted = x_interrupted;
  return poll;
}

}  // namespace unhang::collect
