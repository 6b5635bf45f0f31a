// SPDX-License-Identifier: Apache-2.0
//
// What a program does besides communicating, and how it fails: steps, checkpoints, data, weights,
// compilation, exceptions, crashes, devices that it cannot use.
#include <string>
#include <unordered_map>
#include <utility>

#include "formats/log/families.h"
#include "formats/log/fields.h"
#include "formats/log/find_text.h"
#include "formats/log/known_sentence.h"
#include "formats/log/progress_bar.h"
#include "formats/log/python_exception.h"
#include "formats/log/traceback.h"
#include "formats/log/training_step.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

constexpr KnownSentence kSentences[] = {
    // weights
    {"Loading weights took", LogEventKind::kWeightLoading, 1},
    {"Model loading took", LogEventKind::kWeightLoading, 1},
    {"Loading model weights took", LogEventKind::kWeightLoading, 1},
    {"Load weight begin", LogEventKind::kWeightLoading, 0},
    {"Load weight end", LogEventKind::kWeightLoading, 1},
    {"Starting to load model ", LogEventKind::kWeightLoading, 0},
    {"Loading model weights", LogEventKind::kWeightLoading, 0},
    {"Time spent downloading weights", LogEventKind::kWeightLoading, 0},
    {"Loaded engine size: ", LogEventKind::kWeightLoading, 1},
    {"Model init total -- ", LogEventKind::kWeightLoading, 1},
    // compilation, graphs, tuning
    {"torch.compile takes", LogEventKind::kCompilation, 1},
    {"torch.compile took", LogEventKind::kCompilation, 1},
    {"Graph capturing finished", LogEventKind::kCompilation, 1},
    {"Capture cuda graph end", LogEventKind::kCompilation, 1},
    {"Capture cuda graph begin", LogEventKind::kCompilation, 0},
    {"Capturing the model for CUDA graphs", LogEventKind::kCompilation, 0},
    {"Capturing cudagraphs for", LogEventKind::kCompilation, 0},
    {"Dynamo bytecode transform time", LogEventKind::kCompilation, 0},
    {"Compiling a graph for", LogEventKind::kCompilation, 0},
    {"Cache the graph of", LogEventKind::kCompilation, 0},
    {"for vLLM's torch.compile", LogEventKind::kCompilation, 0},
    {"init engine (profile, create kv cache", LogEventKind::kCompilation, 1},
    {"Autotuning process starts", LogEventKind::kCompilation, 0},
    {"Autotuning process ends", LogEventKind::kCompilation, 1},
    {"DeepGEMM JIT", LogEventKind::kCompilation, 0},
    {"DeepGEMM warmup", LogEventKind::kCompilation, 0},
    {"Building extension module", LogEventKind::kCompilation, 0},
    {"Time to load ", LogEventKind::kCompilation, 1, " op: "},
    {"begins to compile kernel", LogEventKind::kCompilation, 0},
    {"completes to compile kernel", LogEventKind::kCompilation, 1},
    {"done with compiling and loading fused kernels", LogEventKind::kCompilation, 1},
    {"compiling and loading fused kernels", LogEventKind::kCompilation, 0},
    // data
    {"building train, validation, and test datasets", LogEventKind::kDataLoading},
    {"building shuffle index", LogEventKind::kDataLoading},
    {"building sample index", LogEventKind::kDataLoading},
    {"Running tokenizer on", LogEventKind::kDataLoading},
    {"Tokenizing ", LogEventKind::kDataLoading},
    {"Generating train split", LogEventKind::kDataLoading},
    {"Grouping texts in chunks", LogEventKind::kDataLoading},
    {"Saving the dataset (", LogEventKind::kDataLoading},
    {"Loading dataset shards", LogEventKind::kDataLoading},
    // the end
    {"train_runtime", LogEventKind::kTrainingEnd},
    {"***** train metrics *****", LogEventKind::kTrainingEnd},
    {"Trainer.fit` stopped", LogEventKind::kTrainingEnd},
    {"exiting program at iteration", LogEventKind::kTrainingEnd},
    {"exiting program after", LogEventKind::kTrainingEnd},
    {"Training completed", LogEventKind::kTrainingEnd},
    {"Training finished", LogEventKind::kTrainingEnd},
    {"Training complete", LogEventKind::kTrainingEnd},
    {"raining is done", LogEventKind::kTrainingEnd},
    {"Finished training", LogEventKind::kTrainingEnd},
    {"exits successfully.", LogEventKind::kTrainingEnd, 0, "Process "},
    // Warnings of PyTorch when the process ends, well or not.
    {"process group has NOT been destroyed", LogEventKind::kTrainingEnd},
    {"destroy_process_group() was not called", LogEventKind::kTrainingEnd},
    {"Application shutdown complete", LogEventKind::kTrainingEnd},
    {"Finished server process", LogEventKind::kTrainingEnd},
};

// Devices and drivers: the sentence itself is the detail.
constexpr KnownSentence kDevices[] = {
    {"Driver/library version mismatch", LogEventKind::kDriverMismatch},
    {"API mismatch: the client", LogEventKind::kDriverMismatch},
    {"CUDA driver version is insufficient", LogEventKind::kDriverMismatch},
    {"NVIDIA driver on your system is too old", LogEventKind::kDriverMismatch},
    {"forward compatibility was attempted on", LogEventKind::kDriverMismatch},
    {"No CUDA GPUs are available", LogEventKind::kDeviceUnavailable},
    {"CUDA-capable devices are busy or unavail", LogEventKind::kDeviceUnavailable},
    {"Found no NVIDIA driver on your system", LogEventKind::kDeviceUnavailable},
    {"no CUDA-capable device is detected", LogEventKind::kDeviceUnavailable},
    {"couldn't communicate with the NVIDIA driver", LogEventKind::kDeviceUnavailable},
    {"Failed to initialize NVML: Unknown Error", LogEventKind::kDeviceUnavailable},
    {"could not select device driver", LogEventKind::kDeviceUnavailable},
    {"Torch not compiled with CUDA enabled", LogEventKind::kDeviceUnavailable},
};

// Crashes of the process. The code is the signal.
constexpr KnownSentence kCrashes[] = {
    {"Fatal Python error: Segmentation fault", LogEventKind::kFatalSignal, 11},
    {"Fatal Python error: Aborted", LogEventKind::kFatalSignal, 6},
    {"Fatal Python error: Bus error", LogEventKind::kFatalSignal, 7},
    {"Fatal Python error: Floating", LogEventKind::kFatalSignal, 8},
    {"Fatal Python error: Illegal", LogEventKind::kFatalSignal, 4},
    {"Fatal Python error: ", LogEventKind::kFatalSignal, 0},
    {"terminate called without an active", LogEventKind::kFatalSignal, 6},
    {"Segfault encountered", LogEventKind::kFatalSignal, 11},
    {"*** SIGSEGV received", LogEventKind::kFatalSignal, 11},
    {"*** SIGABRT received", LogEventKind::kFatalSignal, 6},
    {"*** SIGBUS received", LogEventKind::kFatalSignal, 7},
    {"double free or corruption", LogEventKind::kFatalSignal, 6},
    {"free(): invalid ", LogEventKind::kFatalSignal, 6},
    {"corrupted size vs. prev_size", LogEventKind::kFatalSignal, 6},
};

constexpr OwnedKeyword kOthers[] = {
    {"Traceback (most recent call last)", kActivityException},
    {"the above exception, another", kActivityException},
    {"above exception was the direct cause", kActivityException},
    {"Exception ignored in", kActivityException},
    {"Error: ", kActivityException},
    {"Exception: ", kActivityException},
    {"KeyboardInterrupt", kActivityException},
    {"SystemExit", kActivityException},
    {"out of memory. Tried to allocate", kActivityMemory},
    {"CUDA_ERROR_OUT_OF_MEMORY", kActivityMemory},
    {"cudaErrorMemoryAllocation", kActivityMemory},
    {"terminate called after throwing", kActivityCrash},
    {"Caught signal ", kActivityCrash},
    {"DataLoader worker (pid", kActivityWorker},
    {"heckpoint", kActivityCheckpoint},
    {"[Torch] Sav", kActivityCheckpoint},
    {"odel weights saved in", kActivityCheckpoint},
    {"it/s]", kActivityBar},
    {"s/it]", kActivityBar},
    {"ba/s]", kActivityBar},
    {" examples/s", kActivityBar},
    {"s/it, ", kActivityBar},
    {"it/s, ", kActivityBar},
    {"consumed samples:", kActivityStep},
    {"train_step_timing", kActivityStep},
    {" loss", kActivityStep},
    {"'loss'", kActivityStep},
    {"\"loss\"", kActivityStep},
    {"loss=", kActivityStep},
};

constexpr std::int64_t kSteps = 10'000'000;

struct SignalWords {
  std::string_view words;
  std::int64_t signal;
};
constexpr SignalWords kWorkerSignals[] = {
    {"Killed", 9}, {"Bus error", 7}, {"Segmentation fault", 11}, {"Aborted", 6}, {"Terminated", 15},
};

// The first `word` of `text`, or the first that begins with a capital, at the beginning of a word.
bool has_word(std::string_view text, std::string_view word) {
  const std::string_view tail = word.substr(1);
  const char small = word.front(), capital = static_cast<char>(small - 'a' + 'A');
  bool saw_small = false, saw_capital = false;
  for (std::size_t from = 0;;) {
    const std::size_t found = find_text(text.substr(from), tail);
    if (found == text.npos) return false;
    const std::size_t at = from + found;
    from = at + 1;
    if (at == 0 || (text[at - 1] != small && text[at - 1] != capital)) continue;
    if (std::exchange(text[at - 1] == small ? saw_small : saw_capital, true)) continue;
    const char in_front = at == 1 ? ' ' : text[at - 2];
    if (in_front == ' ' || in_front == '[' || in_front == '\t' || in_front == '>') return true;
  }
}

// "Saving model checkpoint to", "successfully loaded checkpoint from". A path or a setting with the word in
// it tells nothing.
bool take_checkpoint(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const auto add = [&](std::int64_t code) {
    facts.add(event_of(LogEventKind::kCheckpoint, code), line);
    return true;
  };
  if (has(text, "odel weights saved in")) return add(1);
  if (has(text, "[Torch] Saving ")) return add(0);
  if (has(text, "[Torch] Saved ")) return add(1);
  const std::size_t at = find_text(text, "heckpoint");
  if (at == text.npos || text.substr(at + 9).starts_with("ing") || has(text, "heckpoint shards"))
    return false;
  // The verb stands near the word.
  const std::size_t from = at < 60 ? 0 : at - 60;
  const std::string_view near = text.substr(from, at - from + 60);
  if (has_word(near, "saved ") || has_word(near, "loaded ") || has_word(near, "restored ") ||
      has_word(near, "finished saving") || has_word(near, "finished loading") || has_word(near, "resumed ")) {
    return add(1);
  }
  if (has_word(near, "saving ") || has_word(near, "loading ") || has_word(near, "resuming ") ||
      has_word(near, "restoring ") || has_word(near, "writing ")) {
    return add(0);
  }
  return false;
}

bool take_data_worker(const Line& line, Facts& facts) {
  const auto worker = behind(line.message, "DataLoader worker (pid");
  if (!worker) return false;
  if (has(*worker, "exited unexpectedly")) {
    facts.add(event_of(LogEventKind::kDataWorkerKilled, 0), line);
    return true;
  }
  const auto signal = behind(*worker, "killed by signal: ");
  if (!signal) return false;
  for (const SignalWords& known : kWorkerSignals) {
    if (!signal->starts_with(known.words)) continue;
    // Terminated: the program tells its workers to end.
    const LogEventKind kind =
        known.signal == 15 ? LogEventKind::kProcessSignalled : LogEventKind::kDataWorkerKilled;
    facts.add(event_of(kind, known.signal), line);
    return true;
  }
  facts.add(event_of(LogEventKind::kDataWorkerKilled, 0), line);
  return true;
}

bool take_memory(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  const std::size_t at = find_text(text, "out of memory. Tried to allocate");
  if (at == text.npos && !has(text, "CUDA_ERROR_OUT_OF_MEMORY") && !has(text, "cudaErrorMemoryAllocation")) {
    return false;
  }
  const PythonException exception = read_python_exception(text, true);
  facts.add(event_of(LogEventKind::kCudaOutOfMemory, 0, -1, {}, exception.type), line);
  return true;
}

bool take_crash(const Line& line, Facts& facts) {
  const std::string_view text = line.message;
  if (const auto type = behind(text, "terminate called after throwing an instance of '")) {
    facts.add(event_of(LogEventKind::kFatalSignal, 6, -1, {}, up_to(*type, "'")), line);
    return true;
  }
  if (const auto signal = behind(text, "Caught signal ")) {
    const auto number = leading_number(*signal);
    if (!number || *number <= 0 || *number > 64) return false;
    const bool person = *number == 15 || *number == 2;
    facts.add(event_of(person ? LogEventKind::kProcessSignalled : LogEventKind::kFatalSignal, *number), line);
    return true;
  }
  return take_known_sentence(kCrashes, line, facts);
}

bool take_device(const Line& line, Facts& facts) {
  // Behind "CUDA error: " the watchdog's family reads it.
  if (has(line.message, "CUDA error: ")) return false;
  const KnownSentence* sentence = known_sentence(kDevices, line.message);
  if (sentence == nullptr) return false;
  const std::size_t at = find_text(line.message, sentence->words);
  const std::string_view rest = line.message.substr(at);
  facts.add(event_of(sentence->kind, 0, -1, rest.substr(0, rest.find(". "))), line);
  return true;
}

class ActivityFamily : public Family {
 public:
  ActivityFamily() {
    x_keywords.assign(std::begin(kOthers), std::end(kOthers));
    for (const KnownSentence& sentence : kDevices) x_keywords.push_back({sentence.words, kActivityDevice});
    for (const KnownSentence& sentence : kCrashes) x_keywords.push_back({sentence.words, kActivityCrash});
    for (const KnownSentence& sentence : kSentences)
      x_keywords.push_back({sentence.words, kActivitySentence});
    for (const OwnedKeyword& keyword : x_keywords) x_triggers.push_back(keyword.text);
  }

  std::span<const OwnedKeyword> keywords() const override { return x_keywords; }

  std::span<const std::string_view> triggers() const override { return x_triggers; }
  bool open() const override { return x_tracebacks.open(); }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl != NcclLevel::kNone || line.kernel || quotes_request(line)) return false;
    if (line.may_hold(kActivityWorker) && take_data_worker(line, facts)) return true;
    if (line.may_hold(kActivityDevice) && take_device(line, facts)) return true;
    if ((may_be_exception(line) || x_tracebacks.open()) && x_tracebacks.take(line, facts)) return true;
    return (line.may_hold(kActivityMemory) && take_memory(line, facts)) ||
           (line.may_hold(kActivityCrash) && take_crash(line, facts)) ||
           (may_be_bar(line) && take_bar(line, facts)) ||
           (line.may_hold(kActivityCheckpoint) && take_checkpoint(line, facts)) ||
           (line.may_hold(kActivitySentence) && take_known_sentence(kSentences, line, facts)) ||
           (line.may_hold(kActivityStep) && take_step(line, facts));
  }

  // One record a writer stands for all its steps; it tells the last.
  void finish(Facts& facts) override {
    for (model::LogEvent& event : facts.log().events) {
      if (event.kind != LogEventKind::kTrainingStep) continue;
      const auto it = x_last_step.find(key_of(event.origin, event.run));
      if (it != x_last_step.end()) event.code = it->second;
    }
  }

 private:
  static std::uint64_t key_of(std::uint32_t origin, std::uint32_t run) {
    return (static_cast<std::uint64_t>(run) << 32) | origin;
  }

  // Where the spine says that the words are not there, the search is spared: these lines are many.
  static bool may_be_exception(const Line& line) {
    return line.may_hold(kActivityException) || line.may_hold(kActivityMemory) ||
           line.may_hold(kActivityDevice) || line.may_hold(kActivityCrash);
  }
  static bool may_be_bar(const Line& line) {
    return line.may_hold(kActivityBar) || line.may_hold(kActivityCheckpoint) ||
           line.may_hold(kActivitySentence);
  }

  bool add_step(std::int64_t step, const Line& line, Facts& facts) {
    facts.add(event_of(LogEventKind::kTrainingStep, -1), line);
    if (step >= 0) x_last_step[key_of(line.origin, facts.run())] = step;
    return true;
  }

  bool take_bar(const Line& line, Facts& facts) {
    const auto bar = read_progress_bar(line.message);
    if (!bar) return false;
    const std::string_view title = bar->title;
    const auto add = [&](LogEventKind kind) {
      const bool two = kind == LogEventKind::kWeightLoading || kind == LogEventKind::kCompilation;
      facts.add(event_of(kind, two && bar->percent >= 100 ? 1 : 0), line);
      return true;
    };
    if (has(title, "heckpoint shards") || has(title, "loading shards") || has(title, "Loading weights") ||
        has(title, "Downloading shards") || has(title, "Loading pipeline components")) {
      return add(LogEventKind::kWeightLoading);
    }
    if (has(title, "Capturing") || has(title, "ompil") || has(title, "DeepGEMM") || has(title, "utotun")) {
      return add(LogEventKind::kCompilation);
    }
    const std::string_view text = line.message;
    if (has(title, "okeniz") || title.starts_with("Map") || title.starts_with("Filter") ||
        has(title, "dataset") || has(title, "split") || has(text, "ba/s]") || has(text, " examples/s")) {
      return add(LogEventKind::kDataLoading);
    }
    // Without a title it is the trainer's bar; with another, nobody knows.
    const bool trains = title.empty() || title.starts_with("Epoch") || title.starts_with("epoch") ||
                        has(title, "rain") || title.starts_with("Step") || has(title, "teration");
    // Nor has a training so many steps: without a title this is a download.
    if (title.empty() && bar->all > kSteps) return false;
    return trains && add_step(bar->done, line, facts);
  }

  bool take_step(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (has(text, "consumed samples:") || has(text, "train_step_timing")) {
      return add_step(step_in(text), line, facts);
    }
    if (!has_loss(text)) return false;
    const std::int64_t step = step_in(text);
    const bool dictionary = has(text, "{'loss':") || has(text, "{\"loss\":");
    return (dictionary || step >= 0) && add_step(step, line, facts);
  }

  std::vector<OwnedKeyword> x_keywords;
  std::vector<std::string_view> x_triggers;  // the same words
  Tracebacks x_tracebacks;
  std::unordered_map<std::uint64_t, std::int64_t> x_last_step;  // by writer and run
};

}  // namespace

std::unique_ptr<Family> activity_family() {
  return std::make_unique<ActivityFamily>();
}

}  // namespace unhang::formats::log
