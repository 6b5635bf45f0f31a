// SPDX-License-Identifier: Apache-2.0
//
// Pseudonyms: what stands in the place of a name that is not to be shown. The same name, kind and key give
// the same pseudonym everywhere, so that outputs of several commands and of several machines fit together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace unhang::base {

enum class NameKind : std::uint8_t { kHost, kDomain, kAddress, kMac, kGuid, kGpu, kUser, kName };

// "host-k3v7qza": the word of the kind and 7 characters of [a-z2-7]: 30 bits of SHA-256 over key, kind and
// name, and a check character, which keeps a real name of that look from passing as a pseudonym. Two of
// 1,000 names of a kind share a pseudonym with a chance of 1 in 2,000. Without a key, who can guess the name
// can check the guess. ASCII letters count without their case.
std::string pseudonym(NameKind kind, std::string_view key, std::string_view name);

// How long the pseudonym is that begins at text[at]; 0: none does. What follows it is no letter or digit.
std::size_t pseudonym_at(std::string_view text, std::size_t at);

}  // namespace unhang::base
