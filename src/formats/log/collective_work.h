// SPDX-License-Identifier: Apache-2.0
//
// "WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600061
// milliseconds": PyTorch's words for one collective, of 1.13 to today, and as people retype them. A field
// counts only where the ',' or ')' behind it is there: the end of a wrapped line looks like a shorter number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unhang::formats::log {

struct CollectiveWork {
  std::int64_t sequence = -1;
  std::string_view operation;
  std::int64_t elements_in = -1, elements_out = -1;
  std::int64_t timeout_ms = -1, ran_ms = -1;
  bool cut = false;  // the text ends before the closing ')'
};

// The first one in `text`; nullopt without "WorkNCCL(". Views point into `text`.
std::optional<CollectiveWork> read_collective_work(std::string_view text);

}  // namespace unhang::formats::log
