// SPDX-License-Identifier: Apache-2.0
#include "simulate/placement.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "simulate/random.h"

namespace unhang::simulate {
namespace {

constexpr std::int32_t kUsualRanksPerHost = 8;
constexpr std::uint32_t kUsualOffset = 2000000;  // nanoseconds
// Of a machine with eight GPUs; a second row for more.
constexpr std::array<std::uint32_t, 16> kBuses = {0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf,
                                                  0x0f, 0x2d, 0x37, 0x7a, 0x88, 0xa5, 0xb4, 0xe9};

}  // namespace

Placement::Placement(const Plan& plan)
    : x_seed(plan.seed),
      x_skew(plan.skew_ns),
      x_ranks(plan.ranks),
      x_per_host(plan.hosts > 0 ? (plan.ranks + plan.hosts - 1) / plan.hosts : kUsualRanksPerHost),
      x_hosts((plan.ranks + x_per_host - 1) / x_per_host) {}

std::vector<std::int32_t> Placement::ranks_on(std::int32_t host) const {
  std::vector<std::int32_t> out;
  for (std::int32_t rank = host * x_per_host; rank < std::min(x_ranks, (host + 1) * x_per_host); ++rank)
    out.push_back(rank);
  return out;
}

std::string Placement::host_name(std::int32_t host) const {
  return fmt::format("node{:02}", host + 1);
}

std::string Placement::address(std::int32_t host) const {
  return fmt::format("10.20.{}.{}", host / 200, host % 200 + 11);
}

std::int64_t Placement::pid(std::int32_t rank) const {
  // The launcher starts the processes of a host one after the other: their numbers are close, not equal.
  const auto host = static_cast<std::uint64_t>(host_of(rank));
  return static_cast<std::int64_t>(2000 + hash({x_seed, 401, host}) % 30000) +
         std::int64_t{3} * device_of(rank);
}

std::int64_t Placement::thread_id(std::int32_t rank, std::int32_t which) const {
  if (which == 0) return pid(rank);
  return pid(rank) + std::int64_t{3} * x_per_host + 40 * (device_of(rank) + 1) + which;
}

std::uint32_t Placement::bus_of(std::int32_t rank) const {
  const auto device = static_cast<std::uint32_t>(device_of(rank));
  return kBuses[device % kBuses.size()] + (device / static_cast<std::uint32_t>(kBuses.size()) << 8);
}

std::string Placement::bus_id(std::int32_t rank) const {
  const std::uint32_t bus = bus_of(rank);
  return fmt::format("{:04x}:{:02x}:00", bus >> 8, bus & 0xff);
}

std::string Placement::nccl_bus_id(std::int32_t rank) const {
  return fmt::format("{:x}000", bus_of(rank));
}

std::string Placement::nic(std::int32_t rank) const {
  return fmt::format("mlx5_{}", device_of(rank) % 8);
}

std::int64_t Placement::clock_offset(std::int32_t host) const {
  const auto number = static_cast<std::uint64_t>(host);
  // What a time service leaves between machines, also where no skew is asked for.
  const std::int64_t usual = static_cast<std::int64_t>(hash({x_seed, 101, number}) % (2 * kUsualOffset)) -
                             std::int64_t{kUsualOffset};
  if (x_skew == 0) return usual;
  const auto drawn = hash({x_seed, 402, number});
  return usual + static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(2 * x_skew)) - x_skew;
}

}  // namespace unhang::simulate
