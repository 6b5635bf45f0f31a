// SPDX-License-Identifier: Apache-2.0
//
// What holds for every answer, whatever the bytes were. For unit tests and fuzzers.
#pragma once

#include <string>
#include <tuple>

#include "formats/evidence.h"

namespace unhang::formats::ras {

inline std::string broken_promise(const model::RasCommunicator& communicator) {
  if (communicator.hash == 0) return "a communicator without hash";
  if (communicator.size != -1 && communicator.size <= 0) return "a communicator of size 0";
  std::int32_t last = -1;
  for (const model::RasRank& rank : communicator.ranks) {
    if (rank.rank <= last) return "ranks out of order";
    if (communicator.size != -1 && rank.rank >= communicator.size) return "a rank beyond the size";
    last = rank.rank;
  }
  for (const model::RasShare& share : communicator.shares) {
    if (share.named.size() > share.ranks) return "more names than ranks";
  }
  return {};
}

// Empty: all hold.
inline std::string broken_promise(const Evidence& evidence) {
  for (const model::RasAnswer& answer : evidence.ras_answers) {
    const model::RasCommunicator* before = nullptr;
    for (const model::RasCommunicator& communicator : answer.communicators) {
      if (std::string broken = broken_promise(communicator); !broken.empty()) return broken;
      if (before != nullptr && std::tie(before->hash, before->secondary_hash) >
                                   std::tie(communicator.hash, communicator.secondary_hash)) {
        return "communicators out of order";
      }
      before = &communicator;
    }
    for (const model::RasRow& row : answer.rows) {
      if (row.size <= 0 || row.nodes <= 0) return "a garbage row";
    }
  }
  for (const model::RasEvent& event : evidence.ras_events) {
    if (event.line == 0) return "an event without line";
  }
  if (evidence.problems.size() > 64) return "problems are not folded";
  return {};
}

}  // namespace unhang::formats::ras
