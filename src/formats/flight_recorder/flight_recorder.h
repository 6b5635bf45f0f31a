// SPDX-License-Identifier: Apache-2.0
//
// PyTorch Flight Recorder dumps: the pickle that the C++ recorder (or Python's pickle module) writes, and the
// JSON variant. Both are data only: nothing read is ever executed, and memory is bounded by the limits below
// whatever the file claims. docs/formats/flight_recorder.md describes what is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/evidence.h"

namespace unhang::formats::flight_recorder {

// Ceilings of the readers, far above any real dump. A dump of 65,536 entries re-pickled by Python, which
// memoises every container, uses about a million memo slots and values.
inline constexpr std::size_t kMaxMemo = std::size_t{1} << 23;   // slots
inline constexpr std::size_t kMaxStack = std::size_t{1} << 23;  // values waiting to be put into a container
inline constexpr std::size_t kMaxContainers = std::size_t{1} << 24;  // alive at once
inline constexpr std::size_t kMaxNumbers = std::size_t{1} << 26;     // elements of lists alive at once
inline constexpr std::size_t kMaxDepth = 64;                         // nested containers; real dumps have 6
inline constexpr std::size_t kMaxString = std::size_t{4}
                                          << 20;  // bytes; longer ones are dropped, with a problem
// Bytes of type lists and shapes that entries put together from what the memo holds: a few bytes of the file
// can name megabytes.
inline constexpr std::size_t kMaxComposed = std::size_t{1} << 28;
inline constexpr std::size_t kMaxOperations = std::size_t{1} << 24;  // per dump

bool sniff_pickle(std::string_view bytes);
void parse_pickle(std::string_view bytes, Evidence& evidence);

bool sniff_json(std::string_view bytes);
void parse_json(std::string_view bytes, Evidence& evidence);

}  // namespace unhang::formats::flight_recorder
