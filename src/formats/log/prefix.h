// SPDX-License-Identifier: Apache-2.0
//
// What launchers, collectors and loggers put in front of a message. They stack in any order, so one after the
// other is taken off until none is left; each gives what it knows of the time and the writer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/log/line.h"
#include "model/log.h"

namespace unhang::formats::log {

// Views into the line.
struct Prefix {
  model::LogTime time;
  std::string_view host;   // of NCCL; else Ray's ip, journald's host, a launcher's node
  std::string_view label;  // "Worker_TP1", "TP3"
  std::int64_t pid = -1;
  std::int64_t thread = -1;  // NCCL's
  std::int32_t global_rank = -1, local_rank = -1, cuda_device = -1;
  bool host_is_nccl = false;  // host and pid are what NCCL printed: nothing outranks them
  bool kernel = false;
  NcclLevel nccl = NcclLevel::kNone;
  std::string_view source_file;
  std::int64_t source_line = 0;
  std::size_t length = 0;     // of all prefixes: the message begins there
  std::uint32_t pieces = 0;   // how many were taken off
  bool delta = false;         // `time` is the distance to the line before (dmesg -H)
  std::string_view new_node;  // a node that was not known, and is one without doubt
  std::string_view
      unknown_node;  // a word in the place of a node's: if it were known, the prefix would be another
};

// Nodes that launchers put in front ("node3: "), learnt from lines where what follows is a record without
// doubt. Bounded.
class NodeNames {
 public:
  bool knows(std::string_view name) const;
  bool empty() const { return x_names.empty(); }
  void learn(std::string_view name);

 private:
  std::vector<std::string> x_names;
  std::array<std::uint64_t, 256> x_short{};  // those of a few bytes that were learnt lately
};

// Takes all prefixes off. Who reads on has `nodes` learn the `new_node`.
Prefix read_prefix(std::string_view line, const NodeNames& nodes);

// NCCL's own prefix at the beginning of `text`, "host:pid:tid [dev] NCCL INFO " in the forms of all releases;
// adds to `prefix` and returns its length, 0 when there is none.
std::size_t read_nccl_prefix(std::string_view text, Prefix& prefix);

// "file.cc:12 (func) NCCL WARN " or "NCCL INFO ": the same without host and pid, as people cut it.
std::size_t read_nccl_words(std::string_view text, Prefix& prefix);

}  // namespace unhang::formats::log
