// SPDX-License-Identifier: Apache-2.0
#include "detect/process_looks.h"

#include <algorithm>

namespace unhang::detect {
namespace {

using model::Activity;
using model::ProcessReading;

Stand stand_of(const model::ProcessSample& process, const model::ThreadSample& thread,
               const model::ThreadActivity& activity) {
  if (process.state == 'T' || (thread.is_main && thread.state == 'T')) return Stand::kStopped;
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

}  // namespace

std::vector<ProcessLook> latest_looks(const model::Case& joined) {
  std::vector<ProcessLook> all;
  std::size_t ranked = 0;
  const auto& readings = joined.processes;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (i + 1 < readings.size() && same_process(readings[i], readings[i + 1])) continue;
    ProcessLook look;
    look.reading = &readings[i];
    look.thread = model::speaking_thread(readings[i].sample);
    if (look.thread == nullptr) continue;
    look.activity = model::activity_of(readings[i].sample, *look.thread);
    if (is_aside(look.activity.what)) continue;
    look.stand = stand_of(readings[i].sample, *look.thread, look.activity);
    for (std::size_t before = i; before-- > 0 && same_process(readings[before], readings[i]);) {
      const auto earlier = readings[before].sample.taken_ns;
      const auto later = readings[i].sample.taken_ns;
      const model::ThreadSample* thread = model::speaking_thread(readings[before].sample);
      if (!earlier || !later || *later - *earlier < kSteadyNs || thread == nullptr) continue;
      look.steady = same_stack(*thread, *look.thread);
      break;
    }
    if (readings[i].sample.rank >= 0) ++ranked;
    all.push_back(look);
  }
  if (ranked >= 2) std::erase_if(all, [](const ProcessLook& look) { return look.reading->sample.rank < 0; });
  return all;
}

std::string who_text(const ProcessLook& look) {
  const model::ProcessSample& sample = look.reading->sample;
  if (sample.rank >= 0) return "rank " + std::to_string(sample.rank);
  const std::string pid = sample.pid >= 0 ? std::to_string(sample.pid) : "?";
  const bool telling = !sample.program.empty() && !sample.program.starts_with("python");
  return (sample.host.empty() ? "process " + pid : sample.host + ":" + pid) +
         (telling ? " (" + sample.program + ")" : std::string());
}

std::string stand_words(const ProcessLook& look) {
  if (look.stand == Stand::kStopped) return "is stopped by a signal";
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
