// SPDX-License-Identifier: Apache-2.0
#include "cli/nccl_version_flag.h"

#include <optional>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "os/byte_source.h"
#include "os/file_descriptor.h"

namespace unhang::cli {
namespace {

using base::ErrorCode;

constexpr std::uint64_t kLookedAt = 16 << 20;  // NCCL names itself before it does anything else
constexpr std::size_t kOverlap = 64;           // longer than the words and the number

}  // namespace

base::Result<collect::NcclRelease> nccl_version_of(const std::string& text) {
  if (const auto release = collect::parse_nccl_release(text)) return *release;
  const std::string shown = base::printable(text);
  const os::FileDescriptor fd(::open(text.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid())
    return base::fail(ErrorCode::kUsage, "flag --nccl-version: '" + shown +
                                             "' is no release (they look like 2.28.9) and no file");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return base::fail(ErrorCode::kUsage, "flag --nccl-version: " + shown + " is not a regular file");
  os::FileSource source(fd.get());
  std::string window;
  while (source.taken() < kLookedAt) {
    const std::string_view block = source.next();
    if (block.empty()) break;
    window.append(block);
    if (const auto release = collect::release_in_bytes(window)) return *release;
    if (window.size() > kOverlap) window.erase(0, window.size() - kOverlap);
  }
  return base::fail(ErrorCode::kUsage,
                    "flag --nccl-version: no line 'NCCL version …' stands in the first 16 MiB of " + shown);
}

}  // namespace unhang::cli
