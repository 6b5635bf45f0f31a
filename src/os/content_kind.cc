// SPDX-License-Identifier: Apache-2.0
#include "os/content_kind.h"

#include <optional>

namespace unhang::os {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kTarHeaderBytes = 512;

bool is_gzip(std::string_view head) {
  // Method 8 is the only one there is, and the upper three flags are reserved: together they keep chance hits
  // out.
  return head.size() >= 4 && head.starts_with("\x1f\x8b\x08"sv) &&
         (static_cast<unsigned char>(head[3]) & 0xe0) == 0;
}

bool is_zstd(std::string_view head) {
  constexpr std::string_view kFrame = "\x28\xb5\x2f\xfd"sv;
  if (head.starts_with(kFrame)) return true;
  // pzstd puts a skippable frame before the data, four bytes long.
  return head.size() >= 16 && (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
         head.substr(1).starts_with("\x2a\x4d\x18\x04\0\0\0"sv) && head.substr(12).starts_with(kFrame);
}

bool is_bzip2(std::string_view head) {
  if (head.size() < 10 || !head.starts_with("BZh"sv) || head[3] < '1' || head[3] > '9') return false;
  const std::string_view block = head.substr(4, 6);
  return block == "\x31\x41\x59\x26\x53\x59"sv || block == "\x17\x72\x45\x38\x50\x90"sv;
}

// A number field of a tar header: octal digits with blanks or NULs around them, or the base-256 form of GNU.
// Nullopt when it is neither; 0 when it is empty or base-256 (only the form matters then).
std::optional<std::uint64_t> tar_number(std::string_view field) {
  const auto first = static_cast<unsigned char>(field[0]);
  if (first == 0x80 || first == 0xff) return 0;
  std::uint64_t value = 0;
  std::size_t at = 0;
  while (at < field.size() && field[at] == ' ') ++at;
  for (; at < field.size() && field[at] >= '0' && field[at] <= '7'; ++at)
    value = value * 8 + (field[at] - '0');
  for (; at < field.size(); ++at) {
    if (field[at] != ' ' && field[at] != '\0') return std::nullopt;
  }
  return value;
}

bool tar_checksum_holds(std::string_view header, std::uint64_t stored) {
  std::uint64_t sum = 0;
  std::int64_t signed_sum = 0;  // some old writers added signed characters
  for (std::size_t i = 0; i < kTarHeaderBytes; ++i) {
    const char byte = i >= 148 && i < 156 ? ' ' : header[i];
    sum += static_cast<unsigned char>(byte);
    signed_sum += static_cast<signed char>(byte);
  }
  return stored == sum || static_cast<std::int64_t>(stored) == signed_sum;
}

bool is_tar(std::string_view head) {
  if (head.size() < kTarHeaderBytes || head[0] == '\0') return false;
  struct Field {
    std::size_t at, size;
  };
  constexpr Field kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
      kChecksum{148, 8};
  for (const Field field : {kMode, kUser, kGroup, kSize, kTime}) {
    if (!tar_number(head.substr(field.at, field.size))) return false;
  }
  const auto checksum = tar_number(head.substr(kChecksum.at, kChecksum.size));
  if (!checksum || *checksum == 0) return false;
  // With the magic a wrong checksum is a damaged tar, which is worth saying; without it, it is something
  // else.
  return head.substr(257).starts_with("ustar"sv) || tar_checksum_holds(head, *checksum);
}

}  // namespace

ContentKind content_kind(std::string_view head) {
  if (is_gzip(head)) return ContentKind::kGzip;
  if (is_zstd(head)) return ContentKind::kZstd;
  if (is_bzip2(head)) return ContentKind::kBzip2;
  if (head.starts_with("\xfd\x37zXZ\0"sv)) return ContentKind::kXz;
  if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv)) return ContentKind::kZip;
  if (is_tar(head)) return ContentKind::kTar;
  return ContentKind::kPlain;
}

std::string_view kind_name(ContentKind kind) {
  switch (kind) {
    case ContentKind::kPlain:
      return "plain";
    case ContentKind::kGzip:
      return "gzip";
    case ContentKind::kZstd:
      return "zstd";
    case ContentKind::kBzip2:
      return "bzip2";
    case ContentKind::kXz:
      return "xz";
    case ContentKind::kTar:
      return "tar";
    case ContentKind::kZip:
      return "zip";
  }
  return "plain";
}

}  // namespace unhang::os
