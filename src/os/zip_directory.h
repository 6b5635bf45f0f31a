// SPDX-License-Identifier: Apache-2.0
//
// How large a zip's central directory claims to be. libarchive loads all of it before the first member, some
// 160 bytes of memory for each 46 bytes there, so a huge one has to be known before.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace unhang::os {

// Up to `count` bytes from `offset`; fewer where there are no more.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t count)>;

// From the first byte that libarchive might take for the start of the directory to the end of the file. 0
// when there is no end record where libarchive looks for one (then it does not load a directory).
std::uint64_t zip_directory_span(std::uint64_t file_bytes, const ReadAt& read_at);

}  // namespace unhang::os
