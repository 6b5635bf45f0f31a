// SPDX-License-Identifier: Apache-2.0
//
// Where each rank of a simulated job runs: host, address, process, device, and how wrong the host's clock is.
// All sources of one incident ask here, so that they agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/plan.h"

namespace unhang::simulate {

class Placement {
 public:
  explicit Placement(const Plan& plan);

  std::int32_t hosts() const { return x_hosts; }
  std::int32_t ranks_per_host() const { return x_per_host; }
  std::int32_t host_of(std::int32_t rank) const { return rank / x_per_host; }
  std::int32_t device_of(std::int32_t rank) const { return rank % x_per_host; }
  std::vector<std::int32_t> ranks_on(std::int32_t host) const;  // ascending

  std::string host_name(std::int32_t host) const;  // "node03"
  std::string address(std::int32_t host) const;    // "10.20.0.14"
  std::int64_t pid(std::int32_t rank) const;
  std::int64_t thread_id(std::int32_t rank, std::int32_t which) const;  // of the process; 0: its main thread
  std::string bus_id(std::int32_t rank) const;                          // "0000:1b:00"
  std::string nccl_bus_id(std::int32_t rank) const;                     // "1b000"
  std::string nic(std::int32_t rank) const;                             // "mlx5_2", the one beside its GPU

  // What the clock of this host shows more than the true time.
  std::int64_t clock_offset(std::int32_t host) const;

 private:
  std::uint32_t bus_of(std::int32_t rank) const;

  std::uint64_t x_seed;
  std::int64_t x_skew;
  std::int32_t x_ranks;
  std::int32_t x_per_host;
  std::int32_t x_hosts;
};

}  // namespace unhang::simulate
