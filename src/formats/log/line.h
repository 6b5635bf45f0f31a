// SPDX-License-Identifier: Apache-2.0
//
// One logical line of a log, after the spine (reader.h) has taken off what launchers, collectors and loggers
// put in front: what the families of messages (families.h) look at.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/log/keyword_owners.h"
#include "model/log.h"

namespace unhang::formats::log {

struct CallLine;

enum class NcclLevel : std::uint8_t { kNone, kInfo, kWarn, kTrace, kCall };

// Views are valid only until the next line.
struct Line {
  std::uint64_t number = 0;  // physical line where it begins, from 1
  std::string_view whole;    // as read, colour codes removed; wrapped lines joined
  std::string_view message;  // behind all prefixes: of an NCCL line what follows "NCCL INFO "
  model::LogTime time;
  std::uint32_t origin = 0;  // index into Log::origins
  std::int64_t thread = -1;  // NCCL's thread id
  NcclLevel nccl = NcclLevel::kNone;
  std::string_view
      source_file;  // "transport/net_ib.cc", "ProcessGroupNCCL.cpp", "shm_broadcast.py"; empty: none
  std::int64_t source_line = 0;
  bool continues = false;  // begins with blanks or without any prefix where its neighbours have one
  bool kernel = false;     // a prefix of dmesg or journald's "kernel:" stood in front
  // Whose keywords stand in the message; by default nobody looked, and any may stand there.
  KeywordBits keywords = ~KeywordBits{0};
  const CallLine* call = nullptr;  // a collective that was read already (nccl_shape.h)

  bool may_hold(KeywordOwner owner) const { return (keywords & bit(owner)) != 0; }
};

}  // namespace unhang::formats::log
