// SPDX-License-Identifier: Apache-2.0
//
// A Flight Recorder dump to be written, described field by field. What repeats (frames, stacks, calls) stands
// once in a table and is named by index, as the recorder itself shares it: a frame that two stacks name is
// one object, and the pickle writer then memoises it. Reading is another matter and another type:
// model/dump.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unhang::simulate {

struct RecordedFrame {
  std::string name;
  std::string filename;
  std::int64_t line = 0;
};

using Shapes = std::vector<std::vector<std::int64_t>>;  // one shape a tensor; a scalar has an empty one

// What was called on what: the part of an entry that many entries have in common.
struct RecordedCall {
  std::string profiling_name;  // "nccl:all_reduce"
  Shapes input_sizes;
  std::vector<std::string> input_dtypes;
  Shapes output_sizes;
  std::vector<std::string> output_dtypes;
  bool is_p2p = false;
};

// A process group as entries name it.
struct RecordedGroup {
  std::int64_t pg_id = 0;
  std::string name;
  std::string description;
};

// One line of pg_config. The name is also the key.
struct ConfiguredGroup {
  std::string name;
  std::string description;
  std::vector<std::int32_t> ranks;
};

// One line of pg_status; -1: never.
struct RecordedStatus {
  std::int64_t pg_id = 0;
  std::int64_t last_enqueued = -1;
  std::int64_t last_started = -1;
  std::int64_t last_completed = -1;
};

enum class RecordedState : std::uint8_t { kScheduled, kStarted, kCompleted };

struct RecordedEntry {
  static constexpr std::int32_t kNoStack = -1;
  static constexpr double kNoDuration = -1.0;

  std::int32_t stack = kNoStack;  // index into RecordedDump::stacks; kNoStack: no "frames" key at all
  std::uint32_t group = 0;        // index into RecordedDump::groups
  std::uint32_t call = 0;         // index into RecordedDump::calls
  RecordedState state = RecordedState::kScheduled;
  bool retired = false;
  std::int64_t record_id = 0;
  std::int64_t collective_sequence = 0;
  std::int64_t p2p_sequence = 0;
  std::int64_t op_id = 0;
  std::int64_t created_ns = 0;
  std::int64_t started_ns = 0;    // 0: not noticed
  std::int64_t completed_ns = 0;  // 0: not noticed
  double duration_ms = kNoDuration;
  std::int64_t timeout_ms = 600000;
};

struct RecordedDump {
  std::string version = "2.10";
  std::string comm_lib_version;
  std::string thread_name = "python3";
  std::string thread_id = "140000000000000";
  std::vector<ConfiguredGroup> config;  // in the order of the file
  std::vector<RecordedStatus> status;   // in the order of the file

  std::vector<RecordedFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  // innermost frame first
  std::vector<RecordedGroup> groups;
  std::vector<RecordedCall> calls;
  std::vector<RecordedEntry> entries;  // oldest first
};

}  // namespace unhang::simulate
