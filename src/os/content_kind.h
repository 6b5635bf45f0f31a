// SPDX-License-Identifier: Apache-2.0
//
// Tells archives and compressed data from everything else by their first bytes. Strict on purpose: a pickle,
// JSON or text that is mistaken for an archive would be lost evidence, an archive that is not recognised is
// only a clear message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace unhang::os {

enum class ContentKind : std::uint8_t { kPlain, kGzip, kZstd, kBzip2, kXz, kTar, kZip };

// As many first bytes as content_kind() can make use of; fewer are fine when there are no more.
inline constexpr std::size_t kKindBytes = 512;

ContentKind content_kind(std::string_view head);

// "gzip", "tar" … for messages.
std::string_view kind_name(ContentKind kind);

constexpr bool is_compression(ContentKind kind) {
  return kind == ContentKind::kGzip || kind == ContentKind::kZstd || kind == ContentKind::kBzip2 ||
         kind == ContentKind::kXz;
}

}  // namespace unhang::os
