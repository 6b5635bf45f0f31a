// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/native_backtrace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "formats/stacks/native_frame.h"
#include "formats/stacks/python_trace_line.h"
#include "formats/stacks/sample_list.h"
#include "formats/stacks/stack_lines.h"
#include "model/mixed_stack.h"

namespace unhang::formats::stacks {
namespace {

struct ThreadLine {
  std::int64_t number = -1;  // gdb's; -1: eu-stack gives none
  std::int64_t thread = -1;
  std::string name;
};

std::string quoted_in(std::string_view text) {
  const std::size_t open = text.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('"', open + 1);
  return std::string(close == std::string_view::npos ? "" : text.substr(open + 1, close - open - 1));
}

// "Thread 3 (Thread 0x7f… (LWP 123) "name"):", "Thread 1 (LWP 123):", "Thread 1 (process 123):", "TID 123:"
std::optional<ThreadLine> read_thread_line(std::string_view line) {
  ThreadLine out;
  if (take(line, "TID ")) {
    const auto thread = take_number(line);
    if (!thread || !line.starts_with(':')) return std::nullopt;
    out.thread = *thread;
    return out;
  }
  if (!take(line, "Thread ")) return std::nullopt;
  const auto number = take_number(line);
  if (!number || !take(line, " (")) return std::nullopt;
  out.number = *number;
  const std::size_t lwp = line.find("LWP ");
  const std::size_t process = line.find("process ");
  const std::size_t at = lwp != std::string_view::npos       ? lwp + 4
                         : process != std::string_view::npos ? process + 8
                                                             : 0;
  if (at == 0 && !line.starts_with("Thread 0x")) return std::nullopt;
  if (at != 0) {
    std::string_view digits = line.substr(at);
    out.thread = take_number(digits).value_or(-1);
  }
  out.name = quoted_in(line);
  return out;
}

// "Attaching to process 123", "Attaching to program: python3, process 123", "* 1  process 123",
// "PID 123 - process"
std::optional<std::int64_t> read_process_line(std::string_view line) {
  if (take(line, "PID ")) {
    const auto pid = take_number(line);
    return pid && line.starts_with(" - ") ? pid : std::nullopt;
  }
  if (!line.starts_with("Attaching to ") && !line.starts_with("[Inferior ")) return std::nullopt;
  const std::size_t at = line.find("process ");
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + 8);
  return take_number(line);
}

// The stacks of one thread while they are read: gdb may show it twice, natively and in Python.
struct OpenThread {
  std::size_t number = 0;  // in the list
  std::vector<model::StackFrame> python;
  bool native_seen = false;
};

class BacktraceReader {
 public:
  explicit BacktraceReader(Evidence& evidence) : x_list(evidence) {}

  void line(std::string_view text) {
    (void)take(text, "(gdb) ");
    if (const auto pid = read_process_line(text)) {
      end_process();
      begin_process(*pid);
    } else if (const auto header = read_thread_line(text)) {
      begin_thread(*header);
    } else if (auto frame = read_native_frame(text)) {
      native_frame(std::move(*frame));
    } else if (auto python = read_python_trace_line(text)) {
      python_frame(std::move(*python));
    }
  }

  void finish() { end_process(); }

 private:
  void begin_process(std::int64_t pid) {
    x_process = x_list.begin_process(pid);
    x_open = true;
  }

  void begin_thread(const ThreadLine& header) {
    const Key key{header.number, header.thread};
    const auto known = x_threads.find(key);
    if (known != x_threads.end()) {
      x_thread = known->second;
      x_again = true;  // what follows decides: the same thread's Python side, or another process
      x_again_header = header;
      return;
    }
    new_thread(header);
  }

  void new_thread(const ThreadLine& header) {
    if (!x_open) begin_process(-1);
    x_again = false;
    model::ThreadSample thread;
    thread.source = model::StackSource::kGdb;
    thread.thread = header.thread;
    thread.name = header.name;
    thread.is_main = header.number == 1;
    x_thread = std::nullopt;
    if (const auto number = x_list.begin_thread(x_process, std::move(thread))) {
      x_thread = x_stacks.size();
      x_stacks.push_back({*number, {}, false});
      x_threads[{header.number, header.thread}] = *x_thread;
    }
  }

  void native_frame(NumberedFrame frame) {
    const bool begins = frame.number == 0;
    if (x_again && begins && x_thread && x_stacks[*x_thread].native_seen) {
      const ThreadLine header = x_again_header;
      end_process();
      new_thread(header);
    }
    x_again = false;
    // A stack without a thread above it: `bt` alone. A second one is of another thread.
    const bool nameless = x_threads.empty() || x_threads.begin()->first.first == kNameless;
    if (begins && nameless && (!x_thread || x_stacks[*x_thread].native_seen)) {
      new_thread({kNameless, -static_cast<std::int64_t>(x_threads.size()) - 2, {}});
    }
    if (!x_thread) return;
    x_stacks[*x_thread].native_seen = true;
    x_list.add_frame(x_process, x_stacks[*x_thread].number, std::move(frame.frame));
  }

  void python_frame(model::StackFrame frame) {
    x_again = false;
    if (!x_thread && x_threads.empty()) new_thread({kNameless, -2, {}});
    if (!x_thread) return;
    auto& python = x_stacks[*x_thread].python;
    if (python.size() < kMaxFramesOfThread) python.push_back(std::move(frame));
  }

  void end_process() {
    if (x_open && x_process) {
      model::ProcessSample& process = x_list.process(*x_process);
      for (OpenThread& open : x_stacks) {
        auto& frames = process.threads[open.number].frames;
        if (!open.python.empty()) frames = model::mixed_frames(frames, open.python);
      }
      find_main(process);
    }
    x_open = false;
    x_again = false;
    x_thread = std::nullopt;
    x_process = std::nullopt;
    x_stacks.clear();
    x_threads.clear();
  }

  // eu-stack and a bare `bt` number no threads: the first one is the main one, as /proc lists it first.
  static void find_main(model::ProcessSample& process) {
    auto& threads = process.threads;
    for (model::ThreadSample& thread : threads) {
      if (thread.thread < 0) thread.thread = -1;
    }
    auto main = std::find_if(threads.begin(), threads.end(), [](const auto& t) { return t.is_main; });
    if (main == threads.end()) {
      main = std::find_if(threads.begin(), threads.end(),
                          [&](const auto& t) { return t.thread >= 0 && t.thread == process.pid; });
    }
    if (main == threads.end() && threads.size() == 1) main = threads.begin();
    if (main == threads.end()) return;
    main->is_main = true;
    if (process.pid < 0) process.pid = main->thread;
    if (process.program.empty()) process.program = main->name;
  }

  using Key = std::pair<std::int64_t, std::int64_t>;  // number, thread
  static constexpr std::int64_t kNameless = -2;

  SampleList x_list;
  bool x_open = false;
  std::optional<std::size_t> x_process;
  std::vector<OpenThread> x_stacks;
  std::map<Key, std::size_t> x_threads;
  std::optional<std::size_t> x_thread;  // in x_stacks
  bool x_again = false;
  ThreadLine x_again_header;
};

}  // namespace

bool sniff_backtrace(std::string_view bytes) {
  StackLines lines(bytes);
  std::int64_t expected = 0;
  bool after_thread = false;
  std::size_t foreign = 0;
  while (const auto line = lines.next()) {
    // gdb tells of each of thousands of threads first: "[New LWP 123]".
    if (line->empty() || line->starts_with('[')) continue;
    if (++foreign > kForeignAtMost) return false;
    if (const auto frame = read_native_frame(*line)) {
      if (frame->number == 0 && after_thread) return true;
      if (frame->number == 1 && expected == 1) return true;
      expected = frame->number + 1;
      continue;
    }
    expected = 0;
    if (after_thread && read_python_trace_line(*line)) return true;
    if (line->starts_with("Traceback (")) continue;
    after_thread = read_thread_line(*line).has_value();
  }
  return false;
}

void parse_backtrace(std::string_view bytes, Evidence& evidence) {
  BacktraceReader reader(evidence);
  StackLines lines(bytes);
  while (const auto line = lines.next()) reader.line(*line);
  reader.finish();
}

}  // namespace unhang::formats::stacks
