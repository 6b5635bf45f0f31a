// SPDX-License-Identifier: Apache-2.0
//
// Files and folders that only their owner may read: what was captured on a machine is nobody else's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_descriptor.h"

namespace unhang::os {

// Makes `path` (mode 0700) and the folders above it that are missing. Fine when it is there and empty; kUsage
// when there is something in it: nothing is ever overwritten or mixed.
base::Result<> make_private_folder(const std::string& path);

// The same for a folder inside one that was made so: fine when it is there, whatever is in it.
base::Result<> make_private_subfolder(const std::string& path);

// A file (mode 0600) that gets its name only when it is whole; until then it lies beside it under a hidden
// name, and vanishes when it is never finished.
class PrivateFile {
 public:
  static base::Result<PrivateFile> create(const std::string& path);
  PrivateFile(PrivateFile&&) noexcept = default;
  PrivateFile& operator=(PrivateFile&&) = delete;
  ~PrivateFile();

  base::Result<> write(std::string_view bytes);
  // Begins anew with an empty file.
  base::Result<> rewind();
  // `replace`: takes the place of a file that is there; else such a file is an error and stays as it is.
  base::Result<> finish(bool replace = false);

 private:
  PrivateFile(std::string path, std::string beside, FileDescriptor fd)
      : x_path(std::move(path)), x_beside(std::move(beside)), x_fd(std::move(fd)) {}

  std::string x_path, x_beside;
  FileDescriptor x_fd;
};

// Replaces `path` at once and whole.
base::Result<> write_private_file(const std::string& path, std::string_view bytes);

}  // namespace unhang::os
