// SPDX-License-Identifier: Apache-2.0
//
// The flags that all commands which ask a live RAS service share.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "collect/ras_client.h"

namespace unhang::cli {

struct RasFlags {
  std::vector<std::string> addresses;
  std::optional<std::chrono::nanoseconds> timeout;
  std::string nccl_version;
  bool force = false;
  std::optional<std::int64_t> connections;

  std::vector<Flag> flags();
  static Flag address_flag(std::vector<std::string>& target);
};

// Where to ask: --address, else NCCL_RAS_ADDR, else localhost:28028.
base::Result<std::vector<net::HostPort>> ras_addresses(const RasFlags& flags);

// How to ask. kUsage where a value makes no sense.
base::Result<collect::RasClientOptions> ras_client_options(const RasFlags& flags);

}  // namespace unhang::cli
