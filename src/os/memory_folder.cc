// SPDX-License-Identifier: Apache-2.0
#include "os/memory_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/file_descriptor.h"

namespace unhang::os {

std::optional<FolderRoom> memory_folder_room(const std::string& root, const std::string& path) {
  const FileDescriptor top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return std::nullopt;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
  const FileDescriptor folder(
      static_cast<int>(::syscall(SYS_openat2, top.get(), path.c_str(), &how, sizeof how)));
  struct statfs room {};
  if (!folder.valid() || ::fstatfs(folder.get(), &room) != 0 || room.f_type != TMPFS_MAGIC)
    return std::nullopt;
  const auto block = static_cast<std::uint64_t>(room.f_bsize);
  return FolderRoom{room.f_blocks * block, room.f_bavail * block};
}

}  // namespace unhang::os
