// SPDX-License-Identifier: Apache-2.0
//
// Where a job's RAS service listens, as a user or NCCL's own variables say it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"

namespace unhang::collect {

inline constexpr std::uint16_t kRasPort = 28028;

// "HOST:PORT,[::1]:28028,host": at least one, each once, in the order given. kUsage otherwise.
base::Result<std::vector<net::HostPort>> parse_ras_addresses(std::string_view list);

// What is asked when nothing is said: NCCL_RAS_ADDR (`nccl_ras_addr`, null where it is not set), else
// localhost:28028.
base::Result<std::vector<net::HostPort>> default_ras_addresses(const char* nccl_ras_addr);

// How long an answer may take in the worst normal case, with a margin: 15 s, and more where
// NCCL_RAS_TIMEOUT_FACTOR (null: not set) stretches the service's own limits.
std::chrono::nanoseconds default_ras_timeout(const char* nccl_ras_timeout_factor);

}  // namespace unhang::collect
