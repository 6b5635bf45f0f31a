// SPDX-License-Identifier: Apache-2.0
#include "os/zip_directory.h"

#include <algorithm>
#include <string_view>

namespace unhang::os {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kTailBytes = 16 << 10;  // libarchive looks no further back
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kEnd64Bytes = 56;

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The directory starts where the end record says, or `size` before the end record when something stands
// before the zip. A size that reaches beyond the start of the file is no claim: all ones there mean "see the
// record of large zips".
std::uint64_t first_start(std::uint64_t end_record, std::uint64_t offset, std::uint64_t size) {
  return size <= end_record ? std::min(offset, end_record - size) : offset;
}

}  // namespace

std::uint64_t zip_directory_span(std::uint64_t file_bytes, const ReadAt& read_at) {
  const std::uint64_t tail_start = file_bytes - std::min(file_bytes, kTailBytes);
  const std::string tail = read_at(tail_start, kTailBytes);
  std::uint64_t start = file_bytes;
  // Any of several end records might be taken: the earliest start counts.
  for (std::size_t at = tail.rfind("PK\x05\x06"sv); at != std::string::npos;
       at = at == 0 ? std::string::npos : tail.rfind("PK\x05\x06"sv, at - 1)) {
    if (tail.size() - at < kEndBytes) continue;
    start = std::min(start, first_start(tail_start + at, little(tail, at + 16, 4), little(tail, at + 12, 4)));
    if (at < kLocatorBytes || !std::string_view(tail).substr(at - kLocatorBytes).starts_with("PK\x06\x07"sv))
      continue;
    const std::uint64_t end64 = little(tail, at - kLocatorBytes + 8, 8);
    const std::string record = end64 < file_bytes ? read_at(end64, kEnd64Bytes) : std::string();
    if (record.size() < kEnd64Bytes || !std::string_view(record).starts_with("PK\x06\x06"sv)) continue;
    start = std::min(start, first_start(end64, little(record, 48, 8), little(record, 40, 8)));
  }
  return file_bytes - std::min(start, file_bytes);
}

}  // namespace unhang::os
