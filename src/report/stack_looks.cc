// SPDX-License-Identifier: Apache-2.0
#include "report/stack_looks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace unhang::report {
namespace {

// Where a thread waits in the kernel is worth a line where the frames end before it, or it cannot be woken.
void add_kernel_frames(const model::ThreadSample& thread, std::vector<model::StackFrame>& path) {
  const model::ThreadActivity activity = model::activity_of(thread);
  if (!path.empty() && thread.state != 'D' && activity.how < model::Activity::kFileAccess) return;
  const auto add = [&](const std::string& function) {
    if (!function.empty()) path.push_back({function, std::string(kKernelFile), 0, false});
  };
  if (path.empty()) add(thread.system_call);
  for (auto frame = thread.kernel_frames.rbegin(); frame != thread.kernel_frames.rend(); ++frame) add(*frame);
  if (thread.kernel_frames.empty() || thread.kernel_frames.front() != thread.wait_channel)
    add(thread.wait_channel);
}

StackLook look_at(const model::ProcessSample& process, const model::ThreadSample& thread) {
  StackLook look;
  look.rank = process.rank;
  look.host = process.host;
  look.pid = process.pid;
  look.program = process.program;
  look.thread = !thread.name.empty() || thread.thread < 0 ? thread.name : std::to_string(thread.thread);
  look.is_main = thread.is_main;
  look.state = thread.state;
  look.source = thread.source;
  look.activity = model::activity_of(thread);
  look.path.assign(thread.frames.rbegin(), thread.frames.rend());
  add_kernel_frames(thread, look.path);
  return look;
}

// Whether a rank still waits for it. The state of a record alone does not tell: the recorder learns of an end
// late, and what the group has counted as done since is done.
bool is_open(const model::Rank& rank, const model::Operation& op) {
  if (op.state == model::OpState::kCompleted || op.has(model::Operation::kFinished)) return false;
  const model::Lane* lane = rank.lane(op.group);
  return op.has(model::Operation::kP2p) || lane == nullptr || !lane->last_completed ||
         op.collective_sequence > *lane->last_completed;
}

// The last call of a rank, where it is unfinished.
bool launch_of(const model::Case& joined, const model::Rank& rank, StackLook& look) {
  const auto open = std::find_if(rank.operations.rbegin(), rank.operations.rend(),
                                 [&](const auto& op) { return op.stack != 0 && is_open(rank, op); });
  if (open == rank.operations.rend()) return false;
  model::ThreadSample thread;
  thread.is_main = true;
  thread.source = model::StackSource::kFlightRecorder;
  for (const model::FrameId id : joined.vocabulary.stack(open->stack)) {
    const model::Frame& frame = joined.vocabulary.frame(id);
    thread.frames.push_back({std::string(joined.text(frame.function)), std::string(joined.text(frame.file)),
                             std::max<std::int64_t>(frame.line, 0), true});
  }
  model::ProcessSample process;
  process.rank = rank.global_rank;
  process.host = rank.host;
  process.pid = rank.pid;
  look = look_at(process, thread);
  return true;
}

}  // namespace

std::string name_of(const StackLook& look) {
  if (look.rank >= 0) return "rank " + std::to_string(look.rank);
  const std::string pid = look.pid >= 0 ? std::to_string(look.pid) : "?";
  const bool telling = !look.program.empty() && !look.program.starts_with("python");
  return (look.host.empty() ? "pid " + pid : look.host + ":" + pid) +
         (telling ? " (" + look.program + ")" : std::string());
}

StackLooks stack_looks(const model::Case& joined, bool all_threads) {
  StackLooks out;
  std::set<std::int32_t> seen;
  std::map<std::string, std::string> not_readable;  // what -> whose
  for (std::size_t i = 0; i < joined.processes.size(); ++i) {
    const model::ProcessSample& process = joined.processes[i].sample;
    const bool known = process.pid >= 0;
    // They stand in order of time.
    const bool last = i + 1 == joined.processes.size() || !known ||
                      joined.processes[i + 1].sample.pid != process.pid ||
                      joined.processes[i + 1].sample.host != process.host;
    if (!last) {
      ++out.older;
      continue;
    }
    const model::ThreadSample* speaking = model::speaking_thread(process);
    for (const model::ThreadSample& thread : process.threads) {
      if (!all_threads && &thread != speaking) continue;
      StackLook look = look_at(process, thread);
      if (look.path.empty()) continue;
      if (&thread == speaking) look.activity = model::activity_of(process, thread);
      if (look.rank >= 0) seen.insert(look.rank);
      out.looks.push_back(std::move(look));
    }
    for (const std::string& what : process.not_readable) {
      StackLook whose;
      whose.rank = process.rank;
      whose.host = process.host;
      whose.pid = process.pid;
      not_readable.emplace(what, name_of(whose));
    }
  }
  for (const model::Rank& rank : joined.ranks) {
    if (seen.count(rank.global_rank) != 0) continue;
    StackLook look;
    if (launch_of(joined, rank, look) && !look.path.empty()) {
      out.looks.push_back(std::move(look));
    } else {
      out.unseen.push_back(rank.global_rank);
    }
  }
  for (const auto& [what, whose] : not_readable) out.not_readable.push_back(what + " (" + whose + ")");
  std::stable_sort(out.looks.begin(), out.looks.end(), [](const StackLook& a, const StackLook& b) {
    // Ranks first.
    const auto key = [](const StackLook& look) {
      return std::tuple(look.rank < 0, look.rank, std::string_view(look.host), look.pid);
    };
    return key(a) < key(b);
  });
  return out;
}

}  // namespace unhang::report
