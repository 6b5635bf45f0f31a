// SPDX-License-Identifier: Apache-2.0
#include "os/host_name.h"

#include <array>

#include <unistd.h>

namespace unhang::os {

std::string host_name() {
  std::array<char, 256> name{};  // a name has at most 64 bytes on Linux; the last byte stays 0
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace unhang::os
