// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "simulate/dump_writer.h"
#include "simulate/rank_list.h"

namespace unhang::simulate {
namespace {

constexpr std::uint32_t kNotMemoised = std::numeric_limits<std::uint32_t>::max();

// The keys of an entry come thousands of times: their place in the memo is kept apart from the general table.
enum Key : std::size_t {
  kFrames,
  kName,
  kFilename,
  kLine,
  kRecordId,
  kPgId,
  kProcessGroup,
  kThreadName,
  kThreadId,
  kCollectiveSeqId,
  kP2pSeqId,
  kOpId,
  kProfilingName,
  kTimeCreated,
  kDuration,
  kInputSizes,
  kInputDtypes,
  kOutputSizes,
  kOutputDtypes,
  kState,
  kTimeStarted,
  kTimeCompleted,
  kRetired,
  kTimeout,
  kIsP2p,
  kKeyCount,
};
constexpr std::array<std::string_view, kKeyCount> kKeyText = {
    "frames",
    "name",
    "filename",
    "line",
    "record_id",
    "pg_id",
    "process_group",
    "thread_name",
    "thread_id",
    "collective_seq_id",
    "p2p_seq_id",
    "op_id",
    "profiling_name",
    "time_created_ns",
    "duration_ms",
    "input_sizes",
    "input_dtypes",
    "output_sizes",
    "output_dtypes",
    "state",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
    "retired",
    "timeout_ms",
    "is_p2p",
};
constexpr std::array<std::string_view, 3> kStateText = {"scheduled", "started", "completed"};

class PickleWriter {
 public:
  explicit PickleWriter(const RecordedDump& dump) : x_dump(dump) {
    x_key_memo.fill(kNotMemoised);
    x_frame_memo.assign(dump.frames.size(), kNotMemoised);
    count_frame_uses();
  }

  std::string write() {
    x_out.reserve(1024 + x_dump.entries.size() * 256);
    x_out += "\x80\x02";
    begin_dict();
    string("version");
    string(x_dump.version);
    string("pg_config");
    config();
    string("comm_lib_version");
    string(x_dump.comm_lib_version);
    string("pg_status");
    status();
    string("entries");
    begin_list();
    for (const RecordedEntry& entry : x_dump.entries) write_entry(entry);
    end_list();
    end_dict();
    put();
    x_out += '.';
    return std::move(x_out);
  }

 private:
  void count_frame_uses() {
    x_frame_uses.assign(x_dump.frames.size(), 0);
    for (const RecordedEntry& entry : x_dump.entries) {
      if (entry.stack == RecordedEntry::kNoStack) continue;
      for (const std::uint32_t frame : x_dump.stacks.at(static_cast<std::size_t>(entry.stack))) {
        ++x_frame_uses.at(frame);
      }
    }
  }

  // Opcodes. A MARK is written even for an empty list or dictionary.
  void begin_dict() { x_out += "}("; }
  void end_dict() { x_out += 'u'; }
  void begin_list() { x_out += "]("; }
  void end_list() { x_out += 'e'; }
  void boolean(bool value) { x_out += value ? '\x88' : '\x89'; }
  void none() { x_out += 'N'; }

  void bytes(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) x_out += static_cast<char>(value >> (8 * i) & 0xFF);
  }

  void integer(std::int64_t value) {
    if (value >= 0 && value <= std::numeric_limits<std::uint8_t>::max()) {
      x_out += 'K';
      bytes(static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value <= std::numeric_limits<std::uint16_t>::max()) {
      x_out += 'M';
      bytes(static_cast<std::uint64_t>(value), 2);
    } else if (value >= std::numeric_limits<std::int32_t>::min() &&
               value <= std::numeric_limits<std::int32_t>::max()) {
      x_out += 'J';
      bytes(static_cast<std::uint64_t>(value), 4);
    } else {
      x_out += "\x8a\x08";
      bytes(static_cast<std::uint64_t>(value), 8);
    }
  }

  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    x_out += 'G';
    for (int i = 7; i >= 0; --i)
      x_out += static_cast<char>(bits >> (8 * i) & 0xFF);  // the one big-endian field
  }

  std::uint32_t put() {
    if (x_next_memo <= std::numeric_limits<std::uint8_t>::max()) {
      x_out += 'q';
      bytes(x_next_memo, 1);
    } else {
      x_out += 'r';
      bytes(x_next_memo, 4);
    }
    return x_next_memo++;
  }

  void get(std::uint32_t index) {
    if (index <= std::numeric_limits<std::uint8_t>::max()) {
      x_out += 'h';
      bytes(index, 1);
    } else {
      x_out += 'j';
      bytes(index, 4);
    }
  }

  std::uint32_t string(std::string_view text) {
    if (const auto known = x_string_memo.find(text); known != x_string_memo.end()) {
      get(known->second);
      return known->second;
    }
    CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max());
    x_out += 'X';
    bytes(text.size(), 4);
    x_out += text;
    const std::uint32_t index = put();
    x_string_memo.emplace(text, index);
    return index;
  }

  // For text that does not outlive this call.
  void temporary_string(std::string text) { string(x_kept.emplace_back(std::move(text))); }

  void key(Key which) {
    std::uint32_t& memo = x_key_memo[which];
    if (memo != kNotMemoised) {
      get(memo);
    } else {
      memo = string(kKeyText[which]);
    }
  }

  void config() {
    begin_dict();
    for (const ConfiguredGroup& group : x_dump.config) {
      string(group.name);
      begin_dict();
      string("name");
      string(group.name);
      string("desc");
      string(group.description);
      string("ranks");
      temporary_string(rank_list(group.ranks));
      end_dict();
    }
    end_dict();
  }

  void status() {
    begin_dict();
    for (const RecordedStatus& group : x_dump.status) {
      temporary_string(std::to_string(group.pg_id));
      begin_dict();
      string("last_enqueued_collective");
      integer(group.last_enqueued);
      string("last_started_collective");
      integer(group.last_started);
      string("last_completed_collective");
      integer(group.last_completed);
      end_dict();
    }
    end_dict();
  }

  void frame(std::uint32_t index) {
    if (x_frame_memo[index] != kNotMemoised) {
      get(x_frame_memo[index]);
      return;
    }
    const RecordedFrame& frame = x_dump.frames[index];
    begin_dict();
    key(kName);
    string(frame.name);
    key(kFilename);
    string(frame.filename);
    key(kLine);
    integer(frame.line);
    end_dict();
    if (x_frame_uses[index] > 1) x_frame_memo[index] = put();
  }

  void shapes(const Shapes& shapes) {
    begin_list();
    for (const auto& shape : shapes) {
      begin_list();
      for (const std::int64_t extent : shape) integer(extent);
      end_list();
    }
    end_list();
  }

  void strings(const std::vector<std::string>& texts) {
    begin_list();
    for (const std::string& text : texts) string(text);
    end_list();
  }

  void time_or_none(std::int64_t ns) {
    if (ns == 0) {
      none();
    } else {
      integer(ns);
    }
  }

  void write_entry(const RecordedEntry& entry) {
    const RecordedGroup& group = x_dump.groups.at(entry.group);
    const RecordedCall& call = x_dump.calls.at(entry.call);
    begin_dict();
    if (entry.stack != RecordedEntry::kNoStack) {
      key(kFrames);
      begin_list();
      for (const std::uint32_t index : x_dump.stacks[static_cast<std::size_t>(entry.stack)]) frame(index);
      end_list();
    }
    write_identity(entry, group);
    key(kProfilingName);
    string(call.profiling_name);
    key(kTimeCreated);
    integer(entry.created_ns);
    if (entry.duration_ms >= 0) {
      key(kDuration);
      real(entry.duration_ms);
    }
    key(kInputSizes);
    shapes(call.input_sizes);
    key(kInputDtypes);
    strings(call.input_dtypes);
    key(kOutputSizes);
    shapes(call.output_sizes);
    key(kOutputDtypes);
    strings(call.output_dtypes);
    key(kState);
    string(kStateText[static_cast<std::size_t>(entry.state)]);
    key(kTimeStarted);
    time_or_none(entry.started_ns);
    key(kTimeCompleted);
    time_or_none(entry.completed_ns);
    key(kRetired);
    boolean(entry.retired);
    key(kTimeout);
    integer(entry.timeout_ms);
    key(kIsP2p);
    boolean(call.is_p2p);
    end_dict();
  }

  void write_identity(const RecordedEntry& entry, const RecordedGroup& group) {
    key(kRecordId);
    integer(entry.record_id);
    key(kPgId);
    integer(group.pg_id);
    key(kProcessGroup);
    string(group.name);
    string(group.description);
    x_out += '\x86';
    key(kThreadName);
    string(x_dump.thread_name);
    key(kThreadId);
    string(x_dump.thread_id);
    key(kCollectiveSeqId);
    integer(entry.collective_sequence);
    key(kP2pSeqId);
    integer(entry.p2p_sequence);
    key(kOpId);
    integer(entry.op_id);
  }

  const RecordedDump& x_dump;
  std::string x_out;
  std::uint32_t x_next_memo = 0;
  std::array<std::uint32_t, kKeyCount> x_key_memo{};
  std::unordered_map<std::string_view, std::uint32_t> x_string_memo;  // only looked up, never walked
  std::deque<std::string> x_kept;                                     // text that x_string_memo points into
  std::vector<std::uint32_t> x_frame_uses;
  std::vector<std::uint32_t> x_frame_memo;
};

}  // namespace

std::string write_pickle(const RecordedDump& dump) {
  return PickleWriter(dump).write();
}

}  // namespace unhang::simulate
