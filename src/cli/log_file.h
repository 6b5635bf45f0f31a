// SPDX-License-Identifier: Apache-2.0
//
// A log on disk, or standard input, as a source of bytes: opened, decompressed where it is, and followed when
// it grows, is truncated or is replaced by another file of the same name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "os/byte_source.h"
#include "os/file_descriptor.h"
#include "os/read_budget.h"

namespace unhang::cli {

class LogFile {
 public:
  // "-" is standard input. Fails where it cannot be opened, and where its first bytes are those of an archive
  // or of no text.
  static base::Result<std::unique_ptr<LogFile>> open(const std::string& path);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() = default;

  os::ByteSource& source() { return *x_source; }
  // When its bytes were last changed, nanoseconds since 1970.
  std::int64_t changed_ns() const { return x_changed_ns; }

  // Whether source() is another one from now on, because the file begins anew. The old one must have been
  // read to its end; it is gone. Nothing happens to standard input and to compressed files.
  bool begins_anew();

 private:
  LogFile() = default;

  std::string x_path;
  os::FileDescriptor x_owned;
  int x_fd = -1;
  std::int64_t x_changed_ns = 0;
  bool x_can_follow = false;
  std::unique_ptr<os::FileSource> x_file;
  std::optional<os::ReadBudget> x_budget;
  std::unique_ptr<os::ByteSource> x_unpacked;
  os::ByteSource* x_source = nullptr;
};

}  // namespace unhang::cli
