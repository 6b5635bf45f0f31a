// SPDX-License-Identifier: Apache-2.0
//
// Whose keywords the one filter of a reader looks for. The families come first, in the order of the list in
// reader.cc: a line with a keyword of theirs is handed to them. The owners behind them only tell a family (or
// the spine) what it need not look for in a line that it gets anyway.
#pragma once

#include <cstdint>
#include <string_view>

namespace unhang::formats::log {

using KeywordBits = std::uint64_t;

inline constexpr unsigned kFamilyOwners = 16;
inline constexpr KeywordBits kFamilyKeywords = (KeywordBits{1} << kFamilyOwners) - 1;

enum KeywordOwner : unsigned {
  // NCCL
  kNcclVersion = kFamilyOwners,
  kNcclUnwinding,
  kNcclSetup,
  kNcclWarning,
  kNcclPhase,    // lines that name no communicator
  kNcclPointer,  // "comm 0x"
  kNcclCall,     // ": opCount "
  // what a program does
  kActivityDevice,
  kActivityCrash,
  kActivitySentence,
  kActivityWorker,
  kActivityException,
  kActivityMemory,
  kActivityBar,
  kActivityCheckpoint,
  kActivityStep,
  // several families
  kQuotedRequest,
  kCode,
  // the spine
  kNcclWord = 61,
  kWrappedRecord,
  kGluedRecord
};

constexpr KeywordBits bit(KeywordOwner owner) {
  return KeywordBits{1} << owner;
}

// A text to look for, and whose it is.
struct OwnedKeyword {
  std::string_view text;
  KeywordOwner owner;
};

}  // namespace unhang::formats::log
