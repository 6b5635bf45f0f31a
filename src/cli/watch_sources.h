// SPDX-License-Identifier: Apache-2.0
//
// Which instances `unhang watch` follows, and where each of them is asked.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "collect/engine_client.h"
#include "net/address.h"

namespace unhang::cli {

struct WatchedInstance {
  std::string name;
  std::vector<std::size_t> engines;  // indices into WatchSources::engines
  std::vector<net::HostPort> ras;
};

struct WatchSources {
  std::vector<WatchedInstance> instances;
  std::vector<collect::EngineEndpoint> engines;  // of all instances
  std::vector<net::HostPort> ras;                // of all instances, each once
};

// `ras` and `engines` as typed: "NAME=ADDRESS" puts a source into the instance NAME, without a name it
// belongs to the instance `name` (empty: named after its first engine, else its first RAS address). In order
// of appearance, engines first. kUsage where there is nothing to watch or an address is none.
base::Result<WatchSources> watch_sources(const std::vector<std::string>& ras,
                                         const std::vector<std::string>& engines, const std::string& name);

}  // namespace unhang::cli
