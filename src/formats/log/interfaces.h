// SPDX-License-Identifier: Apache-2.0
//
// Which network interfaces can carry the traffic of a job.
#pragma once

#include <string_view>

namespace unhang::formats::log {

// Bridges, tunnels and pairs that containers and virtual machines make: they are down or come and go in
// normal life.
bool is_virtual_interface(std::string_view name);

}  // namespace unhang::formats::log
