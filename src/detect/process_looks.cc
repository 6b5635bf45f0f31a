// SPDX-License-Identifier: Apache-2.0
#include "detect/process_looks.h"

#include <algorithm>

#include "model/mixed_stack.h"

namespace unhang::detect {
namespace {

using model::Activity;
using model::ProcessReading;

// As far as the tools of one capture are apart.
constexpr std::int64_t kMomentsNs = 60'000'000'000;

Stand stand_of(const model::ProcessSample& process, const model::ThreadSample& thread,
               const model::ThreadActivity& activity) {
  const char state = process.state == '\0' && thread.is_main ? thread.state : process.state;
  if (state == 'T' || (thread.is_main && thread.state == 'T')) return Stand::kStopped;
  if (state == 't') return Stand::kTraced;
  if (state == 'Z' || state == 'X') return Stand::kDead;
  if (model::is_host_work(activity.what)) return Stand::kHostWork;
  if (activity.what == Activity::kCommunicatorInit) return Stand::kInit;
  if (activity.what == Activity::kCollectiveWait) return Stand::kWaits;
  if (activity.what == Activity::kRequestWait) return Stand::kIdle;
  if (activity.what != Activity::kUnknown) return Stand::kUnknown;
  if (activity.how == Activity::kGpuWait) return Stand::kWaits;
  const bool storage = activity.how == Activity::kNetworkFile || activity.how == Activity::kGpuDriver;
  return storage || (activity.how == Activity::kFileAccess && thread.state == 'D') ? Stand::kHostWork
                                                                                   : Stand::kUnknown;
}

bool is_aside(Activity what) {
  return what == Activity::kHelperProcess || what == Activity::kWorkerWait || what == Activity::kNcclThread ||
         what == Activity::kWatchdog;
}

bool same_process(const ProcessReading& a, const ProcessReading& b) {
  return a.sample.pid >= 0 && a.sample.pid == b.sample.pid && a.sample.host == b.sample.host;
}

// Lines differ where a loop was met at another place.
bool same_stack(const model::ThreadSample& a, const model::ThreadSample& b) {
  // Of the kernel's view alone only a wait that cannot be woken says that it is the same one.
  if (a.frames.empty() || b.frames.empty())
    return a.state == 'D' && b.state == 'D' && !a.wait_channel.empty() && a.wait_channel == b.wait_channel;
  return std::equal(
      a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(),
      [](const auto& x, const auto& y) { return x.function == y.function && x.file == y.file; });
}

// The innermost frame that shows what it does, else the innermost Python code.
std::string place_text(const model::ThreadSample& thread, Activity what) {
  auto frame = std::find_if(thread.frames.begin(), thread.frames.end(), [&](const auto& f) {
    return what != Activity::kUnknown && model::activity_of(f) == what;
  });
  if (frame == thread.frames.end())
    frame = std::find_if(thread.frames.begin(), thread.frames.end(), [](const auto& f) { return f.python; });
  if (frame == thread.frames.end()) frame = thread.frames.begin();
  if (frame == thread.frames.end()) return thread.wait_channel;
  const std::size_t slash = frame->file.rfind('/');
  const std::string file = slash == std::string::npos ? frame->file : frame->file.substr(slash + 1);
  std::string out = frame->function.empty() ? "??" : frame->function;
  if (!file.empty()) out += " (" + file + (frame->line > 0 ? ":" + std::to_string(frame->line) : "") + ")";
  return out;
}

// "VLLM::Worker_TP0" and "VLLM::Worker_TP1" are one program.
std::string_view program_of(const ProcessLook& look) {
  std::string_view name = look.reading->sample.program;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name;
}

// Shells and tools that nobody took note of lie below every job; a rank looks like its kin.
bool may_have_been_rank(const ProcessLook& dead, const std::vector<ProcessLook>& all) {
  const model::ProcessSample& sample = dead.reading->sample;
  return std::any_of(all.begin(), all.end(), [&](const ProcessLook& other) {
    const model::ProcessSample& kin = other.reading->sample;
    if (other.stand == Stand::kDead || kin.host != sample.host || program_of(other) != program_of(dead))
      return false;
    return kin.pid == sample.parent || (kin.parent == sample.parent && sample.parent >= 0);
  });
}

// Of the looks at the process that end with readings[last]: the last, or, where that shows no Python and
// nothing that is known (gdb's, say, which comes behind py-spy's), the one before that does, moments ago.
std::size_t telling_look(const std::vector<ProcessReading>& readings, std::size_t last) {
  const auto what = [&](std::size_t at) {
    const model::ThreadSample* thread = model::speaking_thread(readings[at].sample);
    return thread == nullptr ? Activity::kUnknown : model::activity_of(readings[at].sample, *thread).what;
  };
  const auto has_python = [&](std::size_t at) {
    const auto& threads = readings[at].sample.threads;
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& thread) { return model::has_python(thread.frames); });
  };
  const model::ProcessSample& latest = readings[last].sample;
  const bool runs = latest.state == '\0' || latest.state == 'R' || latest.state == 'S' || latest.state == 'D';
  if (!runs || what(last) != Activity::kUnknown || has_python(last)) return last;
  for (std::size_t at = last; at-- > 0 && same_process(readings[at], readings[last]);) {
    const auto& taken = readings[at].sample.taken_ns;
    if (!taken || !latest.taken_ns || *latest.taken_ns - *taken > kMomentsNs) break;
    if (what(at) != Activity::kUnknown && has_python(at)) return at;
  }
  return last;
}

}  // namespace

bool is_halted(Stand stand) {
  return stand == Stand::kStopped || stand == Stand::kTraced || stand == Stand::kDead;
}

std::vector<ProcessLook> latest_looks(const model::Case& joined) {
  std::vector<ProcessLook> all;
  std::size_t ranked = 0;
  const auto& readings = joined.processes;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (i + 1 < readings.size() && same_process(readings[i], readings[i + 1])) continue;
    const std::size_t latest = i;
    const std::size_t telling = telling_look(readings, i);
    ProcessLook look;
    look.reading = &readings[telling];
    look.thread = model::speaking_thread(look.reading->sample);
    if (look.thread == nullptr) continue;
    look.activity = model::activity_of(look.reading->sample, *look.thread);
    if (is_aside(look.activity.what)) continue;
    look.stand = stand_of(look.reading->sample, *look.thread, look.activity);
    for (std::size_t before = telling; before-- > 0 && same_process(readings[before], readings[latest]);) {
      const auto earlier = readings[before].sample.taken_ns;
      const auto later = look.reading->sample.taken_ns;
      const model::ThreadSample* thread = model::speaking_thread(readings[before].sample);
      if (thread == nullptr) continue;
      if (look.stand == Stand::kTraced) {
        look.steady = readings[before].sample.state == look.reading->sample.state;
        break;
      }
      if (!earlier || !later || *later - *earlier < kSteadyNs) continue;
      look.steady = same_stack(*thread, *look.thread);
      break;
    }
    if (look.reading->sample.rank >= 0) ++ranked;
    all.push_back(look);
  }
  std::vector<ProcessLook> counted;
  for (const ProcessLook& look : all) {
    const bool is_rank = look.reading->sample.rank >= 0;
    if (look.stand == Stand::kDead ? is_rank || may_have_been_rank(look, all)
                                   : is_rank || ranked < 2 || is_halted(look.stand))
      counted.push_back(look);
  }
  return counted;
}

std::string who_text(const ProcessLook& look) {
  const model::ProcessSample& sample = look.reading->sample;
  if (sample.rank >= 0) return "rank " + std::to_string(sample.rank);
  const bool telling = !sample.program.empty() && !sample.program.starts_with("python");
  return "process " + (sample.pid >= 0 ? std::to_string(sample.pid) : "?") +
         (telling ? " (" + sample.program + ")" : std::string()) +
         (sample.host.empty() ? "" : " on " + sample.host);
}

std::string stand_words(const ProcessLook& look) {
  if (look.stand == Stand::kStopped) return "is stopped by a signal";
  if (look.stand == Stand::kTraced) return "is held by a debugger";
  if (look.stand == Stand::kDead) return "has ended, and its parent has not taken note of it";
  std::string out = "is " + model::words_of(look.activity);
  const std::string place = place_text(*look.thread, look.activity.what);
  return place.empty() ? out : out + ", in " + place;
}

std::string stand_text(const ProcessLook& look) {
  return who_text(look) + " " + stand_words(look);
}

model::Subject subject_of(const ProcessLook& look) {
  const model::ProcessSample& sample = look.reading->sample;
  model::Subject subject;
  subject.kind = sample.rank >= 0 ? model::SubjectKind::kRank : model::SubjectKind::kProcess;
  if (sample.rank >= 0) subject.rank = sample.rank;
  subject.host = sample.host;
  if (sample.pid >= 0) subject.pid = sample.pid;
  subject.why = stand_words(look);
  return subject;
}

model::EvidenceItem cite(const model::Case& joined, const ProcessLook& look) {
  model::EvidenceItem item;
  item.file = joined.inputs[look.reading->input].path;
  const std::string_view source = model::name_of(look.thread->source);
  item.text = (stand_text(look) + " (" + std::string(source) + ")").substr(0, 200);
  return item;
}

}  // namespace unhang::detect
