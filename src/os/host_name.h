// SPDX-License-Identifier: Apache-2.0
//
// What this machine calls itself.
#pragma once

#include <string>

namespace unhang::os {

// "gpu-b07"; empty when the system does not say.
std::string host_name();

}  // namespace unhang::os
