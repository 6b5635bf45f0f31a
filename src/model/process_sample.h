// SPDX-License-Identifier: Apache-2.0
//
// A look at one live process at one moment: its threads, where each waits in the kernel, and its stacks,
// native or Python, from whatever could be had (py-spy, gdb, faulthandler, /proc). Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unhang::model {

enum class StackSource : std::uint8_t {
  kUnknown,
  kPySpy,
  kGdb,
  kFaulthandler,    // dump_traceback(), also as torch and vLLM print it
  kFlightRecorder,  // where the last operation was called
  kProc             // no frames: wait channel, system call, kernel stack
};
std::string_view name_of(StackSource value);  // "py-spy"

struct StackFrame {
  std::string function;   // "ncclGroupEnd", "_next_data"; empty: "??"
  std::string file;       // as printed; of a native frame without one: its library
  std::int64_t line = 0;  // 0: not known
  bool python = false;

  bool operator==(const StackFrame&) const = default;
};

struct ThreadSample {
  std::int64_t thread = -1;  // the kernel's id; -1: not known
  std::string name;          // "MainThread", "pt_nccl_watchdg"
  char state = '\0';         // of the kernel: R, S, D, T, Z; 0: not known
  std::string wait_channel;  // "futex_wait_queue"; empty: not known, or it runs
  std::string system_call;   // "futex", "poll"; empty: not known, or it runs
  bool is_main = false;
  bool holds_interpreter = false;          // py-spy's "active+gil"
  std::vector<StackFrame> frames;          // innermost first
  std::vector<std::string> kernel_frames;  // innermost first
  StackSource source = StackSource::kUnknown;
};

struct ProcessSample {
  std::string host;                 // empty: not known
  std::int64_t pid = -1;            // -1: not known
  std::int64_t namespace_pid = -1;  // its own number inside its container; -1: the same, or not known
  std::int32_t rank = -1;           // global rank, where the source says so itself; else the join finds it
  std::int64_t parent = -1;
  std::string program;  // "python3", without arguments
  char state = '\0';
  std::optional<std::int64_t> taken_ns;  // since 1970
  std::vector<ThreadSample> threads;
  std::vector<std::string> not_readable;  // "syscall: Operation not permitted"
};

}  // namespace unhang::model
