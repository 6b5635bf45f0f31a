// SPDX-License-Identifier: Apache-2.0
//
// The number of an NCCL release, from the places where one may stand.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace unhang::collect {

struct NcclRelease {
  int major = 0, minor = 0, patch = 0;

  std::string text() const;  // "2.28.9"
  // clang-tidy 14 takes the 0 in what is generated for a null pointer.
  auto operator<=>(const NcclRelease&) const = default;  // NOLINT(modernize-use-nullptr)
};

// "2.28.9", also with something behind it ("2.28.9+cuda12.8", "2.30.7-1"), or NCCL's own code 22809.
std::optional<NcclRelease> parse_nccl_release(std::string_view text);

// From the name of a library ("…/libnccl.so.2.28.9"); nullopt where it has no whole number.
std::optional<NcclRelease> release_of_library_name(std::string_view path);

// From bytes in which NCCL names itself ("NCCL version 2.28.9+cuda12.8"), the first of them.
std::optional<NcclRelease> release_in_bytes(std::string_view bytes);

// From a RAS answer, as far as it came.
std::optional<NcclRelease> release_of_answer(std::string_view bytes);

}  // namespace unhang::collect
