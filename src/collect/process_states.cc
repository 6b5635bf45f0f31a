// SPDX-License-Identifier: Apache-2.0
#include "collect/process_states.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "collect/fact_tree.h"
#include "os/system_call_name.h"

namespace unhang::collect {
namespace {

// Read of each thread, in this order.
enum ThreadFile { kComm, kStat, kWchan, kSyscall, kStack, kThreadFiles };
constexpr const char* kThreadFileNames[kThreadFiles] = {"comm", "stat", "wchan", "syscall", "stack"};
constexpr std::size_t kMaxKernelFrames = 64;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

model::ProcessSample sample_of(const os::Process& process) {
  model::ProcessSample sample;
  sample.pid = process.pid;
  if (process.namespace_pids.size() > 1) sample.namespace_pid = process.namespace_pids.back();
  sample.parent = process.parent.value_or(-1);
  sample.program = process.name;
  const std::string* rank = process.variable("RANK");
  const auto number = rank == nullptr ? std::nullopt : number_of(*rank);
  if (number && *number >= 0 && *number <= INT32_MAX) sample.rank = static_cast<std::int32_t>(*number);
  return sample;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

// False: the thread has ended.
bool read_thread(const os::ReadReply* files, model::ThreadSample& thread, model::ProcessSample& process) {
  if (!files[kStat].usable() && files[kStat].end == os::ReadEnd::kFailed) return false;
  thread.source = model::StackSource::kProc;
  thread.is_main = thread.thread == process.pid;
  thread.name = without_space_around(files[kComm].bytes);
  thread.state = state_of_stat(files[kStat].bytes);
  const std::string_view channel = without_space_around(files[kWchan].bytes);
  if (channel != "0") thread.wait_channel = channel;
  thread.system_call = system_call_of(without_space_around(files[kSyscall].bytes));
  thread.kernel_frames = kernel_frames_of(files[kStack].bytes);
  for (int file = 0; file < kThreadFiles; ++file) {
    if (!files[file].usable() && files[file].error != ENOENT && files[file].error != ESRCH)
      add_once(process.not_readable,
               std::string(kThreadFileNames[file]) + ": " + os::reason_text(files[file]));
  }
  if (thread.is_main) process.state = thread.state;
  return true;
}

// The threads of each process, ascending.
std::vector<std::vector<std::int64_t>> list_threads(std::vector<model::ProcessSample>& samples,
                                                    const std::string& proc, const ProcessStateLimits& limits,
                                                    SourceTally& tally) {
  std::vector<os::ReadRequest> requests;
  for (std::size_t i = 0; i < samples.size(); ++i)
    requests.push_back({.kind = os::ReadKind::kFolder,
                        .path = proc + "/" + std::to_string(samples[i].pid) + "/task",
                        .group = i});
  const auto replies = os::read_in_child(requests, tally.read_deadlines());
  std::vector<std::vector<std::int64_t>> threads(samples.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!replies[i].usable()) {
      if (replies[i].error != ENOENT)
        samples[i].not_readable.push_back("task: " + os::reason_text(replies[i]));
      continue;
    }
    for (const std::string& name : names_of_listing(replies[i].bytes)) {
      if (const auto number = number_of(name)) threads[i].push_back(*number);
    }
    std::sort(threads[i].begin(), threads[i].end());
    const std::size_t most = std::min(limits.threads_of_process, limits.threads - total);
    if (threads[i].size() > most) {
      samples[i].not_readable.push_back("only the first " + std::to_string(most) + " of " +
                                        std::to_string(threads[i].size()) + " threads were looked at");
      threads[i].resize(most);
    }
    total += threads[i].size();
  }
  return threads;
}

}  // namespace

char state_of_stat(std::string_view stat) {
  const std::size_t close = stat.rfind(')');  // the name may hold anything
  return close == std::string_view::npos || close + 2 >= stat.size() ? '\0' : stat[close + 2];
}

std::string system_call_of(std::string_view syscall) {
  const auto number = number_of(syscall.substr(0, syscall.find(' ')));
  return number && *number >= 0 ? os::system_call_name(static_cast<long>(*number)) : std::string();
}

std::vector<std::string> kernel_frames_of(std::string_view stack) {
  std::vector<std::string> frames;
  while (!stack.empty() && frames.size() < kMaxKernelFrames) {
    const std::size_t end = std::min(stack.find('\n'), stack.size());
    std::string_view line = stack.substr(0, end);
    stack.remove_prefix(std::min(end + 1, stack.size()));
    // "[<0>] futex_wait_queue+0x64/0x90"
    const std::size_t bracket = line.find("] ");
    if (!line.starts_with('[') || bracket == std::string_view::npos) continue;
    line.remove_prefix(bracket + 2);
    const std::string_view name = line.substr(0, line.find('+'));
    if (!name.empty() && name != "0xffffffffffffffff") frames.emplace_back(name);
  }
  return frames;
}

std::vector<model::ProcessSample> read_process_states(const std::vector<os::Process>& processes,
                                                      const std::string& proc,
                                                      const ProcessStateLimits& limits, SourceTally& tally) {
  std::vector<model::ProcessSample> samples;
  for (const os::Process& process : processes) samples.push_back(sample_of(process));
  const auto threads = list_threads(samples, proc, limits, tally);
  std::vector<os::ReadRequest> requests;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const std::int64_t thread : threads[i]) {
      for (const char* name : kThreadFileNames)
        requests.push_back({.path = proc + "/" + std::to_string(samples[i].pid) + "/task/" +
                                    std::to_string(thread) + "/" + name,
                            .max_bytes = 64 << 10,
                            .group = i});
    }
  }
  const auto replies = os::read_in_child(requests, tally.read_deadlines());
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const std::int64_t number : threads[i]) {
      model::ThreadSample thread;
      thread.thread = number;
      if (read_thread(&replies[at], thread, samples[i])) samples[i].threads.push_back(std::move(thread));
      at += kThreadFiles;
    }
  }
  std::erase_if(samples, [](const model::ProcessSample& sample) {
    return sample.threads.empty() && sample.not_readable.empty();
  });
  return samples;
}

}  // namespace unhang::collect
