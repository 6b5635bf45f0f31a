// SPDX-License-Identifier: Apache-2.0
#include "join/processes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "join/process_ranks.h"
#include "join/stack_name.h"
#include "model/mixed_stack.h"

namespace unhang::join {
namespace {

using model::ProcessReading;
using model::ProcessSample;
using model::ThreadSample;

constexpr std::size_t kLooksCompared = 256;

// What the manifest and the name of the file say of processes whose content does not.
void complete(std::vector<ProcessReading>& readings, const BundleFacts& facts, const model::Case& result) {
  std::map<model::InputIndex, std::size_t> in_file;
  for (const ProcessReading& reading : readings) ++in_file[reading.input];
  for (ProcessReading& reading : readings) {
    const std::string& path = result.inputs[reading.input].path;
    ProcessSample& sample = reading.sample;
    const FileFacts* told = facts.find(path);
    if (told != nullptr) {
      if (sample.host.empty()) sample.host = told->host;
      if (!sample.taken_ns && told->captured_ns > 0) sample.taken_ns = told->captured_ns;
    }
    if (in_file[reading.input] != 1) continue;
    const StackName name = read_stack_name(path);
    if (sample.pid < 0 && told != nullptr) sample.pid = told->pid;
    if (sample.pid < 0) sample.pid = name.pid;
    if (sample.rank < 0) sample.rank = name.rank;
  }
}

bool has_kernel_view(const ProcessSample& sample) {
  return std::any_of(sample.threads.begin(), sample.threads.end(),
                     [](const auto& thread) { return thread.source == model::StackSource::kProc; });
}

// Names a pid that was taken inside a container by the number that the machine gives it, and a host where the
// process is known from one host only.
void name_alike(std::vector<ProcessReading>& readings) {
  std::map<std::int64_t, std::set<std::string>> hosts;
  std::set<std::pair<std::string, std::int64_t>> outer;
  std::map<std::pair<std::string, std::int64_t>, std::set<std::int64_t>> inner;
  for (const ProcessReading& reading : readings) {
    const ProcessSample& sample = reading.sample;
    if (sample.host.empty() || sample.pid < 0) continue;
    hosts[sample.pid].insert(sample.host);
    outer.emplace(sample.host, sample.pid);
    if (sample.namespace_pid < 0 || sample.namespace_pid == sample.pid) continue;
    hosts[sample.namespace_pid].insert(sample.host);
    inner[{sample.host, sample.namespace_pid}].insert(sample.pid);
  }
  for (ProcessReading& reading : readings) {
    ProcessSample& sample = reading.sample;
    if (sample.host.empty()) {
      if (const auto known = hosts.find(sample.pid); known != hosts.end() && known->second.size() == 1)
        sample.host = *known->second.begin();
    }
    const auto of_container = inner.find({sample.host, sample.pid});
    if (of_container == inner.end() || of_container->second.size() != 1) continue;
    if (sample.namespace_pid >= 0) continue;  // it stands outside itself
    if (has_kernel_view(sample) && outer.count({sample.host, sample.pid}) != 0) continue;
    sample.namespace_pid = sample.pid;
    sample.pid = *of_container->second.begin();
    for (ThreadSample& thread : sample.threads) {
      if (thread.is_main) thread.thread = sample.pid;
    }
  }
}

// A bit for each tool that gave one of the threads.
unsigned sources_of(const ProcessSample& sample) {
  unsigned out = 0;
  for (const ThreadSample& thread : sample.threads) out |= 1u << static_cast<unsigned>(thread.source);
  return out;
}

bool is_one_look(const ProcessSample& one, const ProcessSample& other) {
  if (one.pid < 0 || one.pid != other.pid || one.host != other.host) return false;
  if (one.taken_ns && other.taken_ns && std::llabs(*one.taken_ns - *other.taken_ns) > kOneLookNs)
    return false;
  // The same tool twice: two looks, however near.
  return (sources_of(one) & sources_of(other)) == 0;
}

// Of the looks at one process the one that was taken at nearly the same time; of equal ones the last.
template <class Iterator>
Iterator nearest_look(Iterator begin, Iterator end, const ProcessReading& reading) {
  Iterator best = end;
  std::int64_t least = 0;
  for (Iterator known = begin; known != end; ++known) {
    if (!is_one_look(known->sample, reading.sample)) continue;
    const auto& here = known->sample.taken_ns;
    const auto& there = reading.sample.taken_ns;
    const std::int64_t apart = here && there ? std::llabs(*here - *there) : 0;
    if (best != end && apart > least) continue;
    best = known;
    least = apart;
  }
  return best;
}

void merge_frames(ThreadSample& into, ThreadSample& from) {
  if (from.frames.empty()) return;
  if (into.frames.empty()) {
    into.frames = std::move(from.frames);
    into.source = from.source;
    return;
  }
  const bool python_here = model::has_python(into.frames);
  const bool python_there = model::has_python(from.frames);
  if (python_here == python_there) {
    if (from.frames.size() > into.frames.size() && model::has_native(from.frames))
      into.frames = std::move(from.frames);
    return;
  }
  // What one tool shows natively already is not shown twice.
  if (python_here) {
    if (!model::has_native(into.frames)) into.frames = model::mixed_frames(from.frames, into.frames);
  } else {
    into.frames = model::has_native(from.frames) ? std::move(from.frames)
                                                 : model::mixed_frames(into.frames, from.frames);
    into.source = from.source;
  }
}

void merge_thread(ThreadSample& into, ThreadSample from) {
  if (into.thread < 0) into.thread = from.thread;
  // Python's name says more than the kernel's, which is cut to 15 characters.
  const bool python_name = from.source == model::StackSource::kPySpy && !from.name.empty();
  if (into.name.empty() || python_name) into.name = from.name;
  if (into.state == '\0') into.state = from.state;
  if (into.wait_channel.empty()) into.wait_channel = from.wait_channel;
  if (into.system_call.empty()) into.system_call = from.system_call;
  if (into.kernel_frames.empty()) into.kernel_frames = std::move(from.kernel_frames);
  into.is_main = into.is_main || from.is_main;
  into.holds_interpreter = into.holds_interpreter || from.holds_interpreter;
  merge_frames(into, from);
}

// Where threads of one process are found again.
class KnownThreads {
 public:
  explicit KnownThreads(const std::vector<ThreadSample>& threads) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (threads[i].thread >= 0) x_by_id.emplace(threads[i].thread, i);
      if (threads[i].is_main && !x_main) x_main = {i, threads[i].thread};
    }
  }

  std::optional<std::size_t> find(const ThreadSample& thread) const {
    if (thread.thread >= 0) {
      if (const auto found = x_by_id.find(thread.thread); found != x_by_id.end()) return found->second;
    }
    const bool may_be_main = thread.is_main && x_main && (thread.thread < 0 || x_main->second < 0);
    return may_be_main ? std::optional(x_main->first) : std::nullopt;
  }

 private:
  std::map<std::int64_t, std::size_t> x_by_id;
  std::optional<std::pair<std::size_t, std::int64_t>> x_main;  // its place and number
};

void merge_process(ProcessSample& into, ProcessSample from) {
  if (into.rank < 0) into.rank = from.rank;
  if (into.namespace_pid < 0) into.namespace_pid = from.namespace_pid;
  if (into.parent < 0) into.parent = from.parent;
  if (into.program.empty()) into.program = from.program;
  if (into.state == '\0') into.state = from.state;
  if (!into.taken_ns) into.taken_ns = from.taken_ns;
  into.not_readable.insert(into.not_readable.end(), from.not_readable.begin(), from.not_readable.end());
  const KnownThreads known(into.threads);
  for (ThreadSample& thread : from.threads) {
    if (const auto same = known.find(thread)) {
      merge_thread(into.threads[*same], std::move(thread));
    } else {
      into.threads.push_back(std::move(thread));
    }
  }
}

void sort_readings(std::vector<ProcessReading>& readings, bool kernel_first) {
  std::stable_sort(readings.begin(), readings.end(), [&](const ProcessReading& a, const ProcessReading& b) {
    const auto key = [&](const ProcessReading& reading) {
      return std::tuple(std::string_view(reading.sample.host), reading.sample.pid,
                        kernel_first && !has_kernel_view(reading.sample),
                        reading.sample.taken_ns.value_or(0));
    };
    return key(a) < key(b);
  });
}

}  // namespace

void join_processes(std::vector<ProcessReading> readings, const BundleFacts& facts, model::Case& result) {
  complete(readings, facts, result);
  name_alike(readings);
  // What /proc told comes first: captures take it several times, and the frames of other tools go to the
  // nearest.
  sort_readings(readings, true);
  const ProcessRanks ranks(result);
  std::size_t of_process = 0;  // where the readings of the same host and pid begin
  for (ProcessReading& reading : readings) {
    auto& kept = result.processes;
    const bool same = !kept.empty() && kept.back().sample.pid == reading.sample.pid &&
                      kept.back().sample.host == reading.sample.host;
    if (!same) of_process = kept.size();
    // Thousands of looks at one process are no evidence of anybody: the last ones are enough.
    const std::size_t from = std::max(of_process, kept.size() - std::min(kept.size(), kLooksCompared));
    const auto look = nearest_look(kept.begin() + static_cast<std::ptrdiff_t>(from), kept.end(), reading);
    if (look != kept.end()) {
      merge_process(look->sample, std::move(reading.sample));
    } else {
      kept.push_back(std::move(reading));
    }
  }
  sort_readings(result.processes, false);
  for (ProcessReading& reading : result.processes) {
    ProcessSample& sample = reading.sample;
    if (sample.rank < 0) sample.rank = ranks.find(sample.host, sample.pid);
    if (sample.rank < 0 && sample.namespace_pid >= 0)
      sample.rank = ranks.find(sample.host, sample.namespace_pid);
  }
}

}  // namespace unhang::join
