// SPDX-License-Identifier: Apache-2.0
//
// The keys that a dump may hold, over all versions of the schema (docs/formats/flight_recorder.md). Keys that
// are not here are ignored: newer recorders add some.
#pragma once

#include <cstdint>
#include <string_view>

namespace unhang::formats::flight_recorder {

enum class Field : std::uint8_t {
  kNone,
  // entry
  kFrames,
  kRecordId,
  kPgId,
  kProcessGroup,
  kSequence,  // seq_id: before collective and P2P sequences were split
  kCollectiveSequence,
  kP2pSequence,
  kOpId,
  kProfilingName,
  kCreated,
  kDuration,
  kInputSizes,
  kInputDtypes,
  kOutputSizes,
  kOutputDtypes,
  kState,
  kStarted,
  kCompleted,
  kRetired,
  kTimeout,
  kIsP2p,
  // frame; `name` also belongs to a group
  kName,
  kFilename,
  kLine,
  // group
  kDesc,
  kRanks,
  // group status
  kLastEnqueued,
  kLastStarted,
  kLastCompleted,
  // top level
  kVersion,
  kPgConfig,
  kPgStatus,
  kCommLibVersion,
  kEntries,
};

Field field_of(std::string_view key);

}  // namespace unhang::formats::flight_recorder
