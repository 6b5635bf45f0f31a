// SPDX-License-Identifier: Apache-2.0
#include "collect/member_source.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "collect/member_bundle.h"
#include "collect/redaction.h"
#include "collect/source_tally.h"
#include "os/run_program.h"

namespace unhang::collect {
namespace {

using std::chrono::milliseconds;
using Status = model::SourceStatus;

// `unhang capture` ends with it when nothing of the job was there.
constexpr int kNothingThere = 69;
// Of the time that is left, a member ends its capture so much earlier, to be heard in time.
constexpr int kMarginPart = 6;
constexpr milliseconds kLongestMargin{4000};
constexpr milliseconds kShortestTurn{500};
// How often a member that waits for its turn looks whether the capture is to stop.
constexpr milliseconds kLooking{100};
constexpr std::size_t kLongestReason = 300;
constexpr std::size_t kLongestErrors = 64 << 10;

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// The line that says why: ours, else one that sounds like it, else the last. (What a login prints stands
// before it, what kubectl adds behind.)
std::string telling_line(std::string_view text) {
  std::string_view ours, error, last;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    last = line;
    if (ours.empty() && line.starts_with("unhang: ")) ours = line.substr(8);
    if (error.empty() && has_any(line, {"rror", "enied", "efused", "imed out", "ot found", "No route",
                                        "ould not", "erification failed", "nreachable"}))
      error = line;
  }
  const std::string_view chosen = !ours.empty() ? ours : !error.empty() ? error : last;
  return without_secrets_in_text(base::printable(chosen.substr(0, kLongestReason)));
}

// How a member ended that sent no bundle.
SourceOutcome failure(const os::ProgramReply& reply, std::string_view preamble) {
  const std::string line = telling_line(reply.errors.empty() ? preamble : std::string_view(reply.errors));
  const std::string status = reply.signal != 0 ? "killed by signal " + std::to_string(reply.signal)
                                               : "exit status " + std::to_string(reply.exit_code);
  std::string reason = line.empty() ? "it sent nothing (" + status + ")" : line + " (" + status + ")";
  if (reply.exit_code == 0)
    return {Status::kFailed, "what it sent is no bundle" + (line.empty() ? "" : ": " + line), {}};
  if (has_any(line, {"imed out", "No route", "nreachable"})) return {Status::kSilent, std::move(reason), {}};
  if (has_any(line, {"ermission denied", "efused", "orbidden", "nauthorized", "not permitted",
                     "erification failed"}))
    return {Status::kRefused, std::move(reason), {}};
  return {Status::kFailed, std::move(reason), {}};
}

SourceOutcome outcome_of(const os::ProgramReply& reply, const MemberBundle& bundle, bool stopped) {
  if (!bundle.fault().empty()) return {bundle.any() ? Status::kPartial : Status::kFailed, bundle.fault(), {}};
  if (bundle.complete() && reply.exit_code == 0) return {Status::kAnswered, {}, {}};
  if (bundle.complete() && reply.exit_code == kNothingThere)
    return {Status::kMissing, "nothing of the job was found there", {}};
  const std::string early = stopped ? "ended early, because the capture was" : "not done in its time";
  if (bundle.any()) {
    std::string why = reply.timed_out ? early : telling_line(reply.errors);
    if (why.empty()) why = "the connection broke off";
    return {Status::kPartial, why + "; what had arrived until then is kept", {}};
  }
  if (reply.timed_out) {
    const std::string line = telling_line(reply.errors);
    const std::string said = line.empty() ? std::string() : " (it said: " + line + ")";
    return {Status::kSilent, (stopped ? early : "no answer in its time") + said, {}};
  }
  return failure(reply, bundle.preamble());
}

SourceOutcome ask(const Member& member, const std::string& folder, const FanOutPlan& plan,
                  CaptureContext& context) {
  const SourceTally tally(context);
  os::ProgramRequest request;
  request.deadline = tally.real_deadline(kTimeToDie);
  const auto left =
      std::chrono::duration_cast<milliseconds>(request.deadline - std::chrono::steady_clock::now());
  const auto budget = left - std::min(kLongestMargin, left / kMarginPart);
  request.words = member_command(member, plan.program, budget.count(), plan.flags);
  const std::string called = request.words.front();
  request.words.front() = os::find_program(called, plan.programs.path);
  if (request.words.front().empty())
    return {Status::kFailed, called + " is not installed here (not found in PATH)", {}};
  request.input_path = plan.program.path;
  request.wake_fd = plan.programs.wake_fd;
  request.max_output = kLongestErrors;
  MemberBundle bundle(context, folder);
  request.on_output = [&](std::string_view bytes) { return bundle.feed(bytes); };
  const auto reply = os::run_program(request);
  if (!reply) return {Status::kFailed, reply.error().message, {}};
  return outcome_of(*reply, bundle, context.stopping() && context.now() < context.deadline() - kTimeToDie);
}

}  // namespace

bool MemberTurns::take(const CaptureContext& context, std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(x_mutex);
  while (x_free == 0) {
    if (context.stopping() || std::chrono::steady_clock::now() >= until) return false;
    x_changed.wait_for(lock, kLooking);
  }
  --x_free;
  return true;
}

void MemberTurns::give_back() {
  const std::lock_guard lock(x_mutex);
  ++x_free;
  x_changed.notify_one();
}

std::string text_of(const Member& member) {
  switch (member.kind) {
    case MemberKind::kHost:
      return "host " + member.name;
    case MemberKind::kPod:
      return "pod " + (member.scope.empty() ? "" : member.scope + "/") + member.name + ", container " +
             member.container;
    case MemberKind::kSlurmNode:
      return "node " + member.name + " of job " + member.scope;
  }
  return member.name;
}

CaptureSource member_source(Member member, std::string folder, std::shared_ptr<FanOutPlan> plan) {
  CaptureSource source{
      "member-" + folder.substr(folder.rfind('/') + 1), "member", "member", text_of(member), {}};
  source.run = [member = std::move(member), folder = std::move(folder),
                plan = std::move(plan)](CaptureContext& context) -> SourceOutcome {
    if (!member.trouble.empty()) return {Status::kFailed, member.trouble, {}};
    const SourceTally tally(context);
    if (!plan->turns.take(context, tally.real_deadline(kTimeToDie + kShortestTurn)))
      return {Status::kSilent, "not asked: its turn did not come within the budget", {}};
    SourceOutcome outcome = ask(member, folder, *plan, context);
    plan->turns.give_back();
    return outcome;
  };
  return source;
}

}  // namespace unhang::collect
