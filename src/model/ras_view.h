// SPDX-License-Identifier: Apache-2.0
//
// What RAS told at one moment about one job, united over all answers of that moment: several sockets of one
// job see the same communicators, or different ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ras.h"

namespace unhang::model {

struct RasView {
  // When it was asked, nanoseconds since 1970; nullopt: not known. From an answer's own time stamp the zone
  // is not known: such times compare with each other only (is_local_time).
  std::optional<std::int64_t> time_ns;
  bool is_local_time = false;
  std::vector<std::uint32_t> sources;  // where the answers came from, as numbered by the caller
  std::string nccl_version;
  std::vector<RasCommunicator> communicators;  // ascending (hash, secondary hash)
  std::vector<RasRow> rows;                    // of a text answer
  std::vector<RasProcess> lost_processes;
  std::optional<std::int64_t> nodes, processes, gpus;  // of the job summary
  std::uint64_t timeouts = 0;
  bool complete = true;  // every answer reached its end
  bool corrupt = false;
  // Processes that one answer calls dead and another heard: they went on after they had been given up.
  std::vector<RasProcess> contradicted;
};

// The largest communicator: its ranks stand for the job's where nothing better is known. Null: there is none.
// Of several, the one with most ranks that answered, then the lowest hash.
const RasCommunicator* largest_communicator(const RasView& view);

// The processes (host, pid) that the view knows of, lost ones too.
std::size_t known_processes(const RasView& view);

}  // namespace unhang::model
