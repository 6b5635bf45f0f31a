// SPDX-License-Identifier: Apache-2.0
//
// How much room a folder in memory (/dev/shm) has, as a process sees it. Only a tmpfs is asked: another file
// system may have a server that does not answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace unhang::os {

struct FolderRoom {
  std::uint64_t bytes = 0, free_bytes = 0;
};

// `root`: "/proc/412/root", or "/". `path` is resolved below it, without following any link. nullopt: not
// there, not allowed, or no tmpfs.
std::optional<FolderRoom> memory_folder_room(const std::string& root, const std::string& path);

}  // namespace unhang::os
