// SPDX-License-Identifier: Apache-2.0
//
// For tests only: RAS answers made to order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ras.h"

namespace unhang::model::fixture {

// A communicator of `size` ranks, all RUNNING with `all_reduces` launched. Rank r of it is process
// `first_pid + r` on host 10.0.0.<1 + r / 4>, GPU r % 4.
inline RasCommunicator communicator(std::uint64_t hash, std::int32_t size, std::uint64_t all_reduces,
                                    std::int64_t first_pid = 100) {
  RasCommunicator out;
  out.hash = hash;
  out.size = size;
  for (std::int32_t r = 0; r < size; ++r) {
    RasRank rank;
    rank.rank = r;
    rank.host = "10.0.0." + std::to_string(1 + r / 4);
    rank.pid = first_pid + r;
    rank.cuda_device = rank.nvml_device = r % 4;
    rank.status = RasStatus::kRunning;
    rank.init_state = rank.async_error = NcclResult::kSuccess;
    for (auto& count : rank.counts) count = 0;
    rank.counts[static_cast<std::size_t>(RasCollective::kAny)].reset();
    rank.counts[static_cast<std::size_t>(RasCollective::kAllReduce)] = all_reduces;
    out.ranks.push_back(std::move(rank));
  }
  return out;
}

// The same over some ranks of `world`: their processes and GPUs.
inline RasCommunicator sub_communicator(std::uint64_t hash, const RasCommunicator& world,
                                        const std::vector<std::int32_t>& members, std::uint64_t all_reduces) {
  RasCommunicator out = communicator(hash, static_cast<std::int32_t>(members.size()), all_reduces);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const RasRank& in_world = world.ranks[static_cast<std::size_t>(members[i])];
    out.ranks[i].host = in_world.host;
    out.ranks[i].pid = in_world.pid;
    out.ranks[i].cuda_device = in_world.cuda_device;
    out.ranks[i].nvml_device = in_world.nvml_device;
  }
  return out;
}

inline void set_count(RasCommunicator& communicator, std::int32_t rank, RasCollective collective,
                      std::uint64_t count) {
  communicator.ranks[static_cast<std::size_t>(rank)].counts[static_cast<std::size_t>(collective)] = count;
}

inline void lose(RasCommunicator& communicator, std::int32_t rank, RasPresence presence) {
  RasRank& lost = communicator.ranks[static_cast<std::size_t>(rank)];
  lost.presence = presence;
  lost.status = RasStatus::kUnknown;
  lost.counts = {};
  lost.init_state.reset();
  lost.async_error.reset();
}

inline RasAnswer answer(std::vector<RasCommunicator> communicators, const std::string& timestamp = "") {
  RasAnswer out;
  out.nccl_version = "2.30.7";
  out.is_json = true;
  out.complete = true;
  out.timestamp = timestamp;
  out.communicators = std::move(communicators);
  return out;
}

}  // namespace unhang::model::fixture
