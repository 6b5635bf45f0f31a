// SPDX-License-Identifier: Apache-2.0
//
// A folder of our own (mode 0700) for what is needed only for a while.
#pragma once

#include <string>

#include "base/result.h"

namespace unhang::os {

// Is removed, with all that is in it, at the end of its life. A kill leaves it behind.
class TemporaryFolder {
 public:
  // In $TMPDIR, else /tmp, /var/tmp or /dev/shm: the first that can be written. kIo: none of them can.
  static base::Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return x_path; }

 private:
  explicit TemporaryFolder(std::string path) : x_path(std::move(path)) {}
  std::string x_path;
};

}  // namespace unhang::os
