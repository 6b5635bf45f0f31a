// SPDX-License-Identifier: Apache-2.0
#include "os/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace unhang::os {

base::Result<TemporaryFolder> TemporaryFolder::make() {
  const char* stated = std::getenv("TMPDIR");
  for (const char* above : {stated == nullptr ? "" : stated, "/tmp", "/var/tmp", "/dev/shm"}) {
    if (above[0] != '/') continue;
    std::string path = std::string(above) + "/unhang-XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) return TemporaryFolder(std::move(path));
  }
  return base::fail(base::ErrorCode::kIo,
                    "there is no folder for temporary files: none of $TMPDIR, /tmp, /var/tmp and /dev/shm "
                    "can be written; set TMPDIR to one");
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : x_path(std::exchange(other.x_path, std::string())) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!x_path.empty()) std::filesystem::remove_all(x_path, ignored);
}

}  // namespace unhang::os
