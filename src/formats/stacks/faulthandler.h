// SPDX-License-Identifier: Apache-2.0
//
// What Python's faulthandler prints of all threads: on a fatal signal, after a time limit, or when it was
// asked (also by PyTorch, vLLM and SGLang), alone or among the lines of a log. A tag in front of the lines
// ("[rank3]:", "(Worker_TP1 pid=123)") tells whose they are; the text itself names no process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/evidence.h"
#include "formats/stacks/sample_list.h"

namespace unhang::formats::stacks {

// Takes lines in any mixture; those of no stack are passed over.
class FaulthandlerReader {
 public:
  explicit FaulthandlerReader(Evidence& evidence) : x_list(evidence) {}

  // Whether the line was one of faulthandler's.
  bool line(std::string_view text);
  // Names the main threads. The reader must not be used afterwards.
  void finish();

 private:
  using Writer = std::pair<std::int32_t, std::int64_t>;  // rank, pid; -1: not told
  struct Place {
    std::optional<std::size_t> process, thread;
    std::map<std::string, bool> seen;  // thread ids of this dump
  };

  void begin_thread(const Writer& writer, std::string_view header);

  SampleList x_list;
  std::map<Writer, Place> x_places;
};

bool sniff_faulthandler(std::string_view bytes);
void parse_faulthandler(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::stacks
