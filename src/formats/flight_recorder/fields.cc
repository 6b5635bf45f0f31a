// SPDX-License-Identifier: Apache-2.0
#include "formats/flight_recorder/fields.h"

#include <algorithm>
#include <array>

namespace unhang::formats::flight_recorder {
namespace {

struct NamedField {
  std::string_view key;
  Field field;
};

constexpr std::array kFields{
    NamedField{"collective_seq_id", Field::kCollectiveSequence},
    NamedField{"comm_lib_version", Field::kCommLibVersion},
    NamedField{"desc", Field::kDesc},
    NamedField{"duration_ms", Field::kDuration},
    NamedField{"entries", Field::kEntries},
    NamedField{"filename", Field::kFilename},
    NamedField{"frames", Field::kFrames},
    NamedField{"input_dtypes", Field::kInputDtypes},
    NamedField{"input_sizes", Field::kInputSizes},
    NamedField{"is_p2p", Field::kIsP2p},
    NamedField{"last_completed_collective", Field::kLastCompleted},
    NamedField{"last_enqueued_collective", Field::kLastEnqueued},
    NamedField{"last_started_collective", Field::kLastStarted},
    NamedField{"line", Field::kLine},
    NamedField{"name", Field::kName},
    NamedField{"nccl_version", Field::kCommLibVersion},
    NamedField{"op_id", Field::kOpId},
    NamedField{"output_dtypes", Field::kOutputDtypes},
    NamedField{"output_sizes", Field::kOutputSizes},
    NamedField{"p2p_seq_id", Field::kP2pSequence},
    NamedField{"pg_config", Field::kPgConfig},
    NamedField{"pg_id", Field::kPgId},
    NamedField{"pg_status", Field::kPgStatus},
    NamedField{"process_group", Field::kProcessGroup},
    NamedField{"profiling_name", Field::kProfilingName},
    NamedField{"ranks", Field::kRanks},
    NamedField{"record_id", Field::kRecordId},
    NamedField{"retired", Field::kRetired},
    NamedField{"seq_id", Field::kSequence},
    NamedField{"state", Field::kState},
    NamedField{"time_created_ns", Field::kCreated},
    NamedField{"time_discovered_completed_ns", Field::kCompleted},
    NamedField{"time_discovered_started_ns", Field::kStarted},
    NamedField{"timeout_ms", Field::kTimeout},
    NamedField{"version", Field::kVersion},
};
static_assert(std::is_sorted(kFields.begin(), kFields.end(),
                             [](const NamedField& a, const NamedField& b) { return a.key < b.key; }));

}  // namespace

Field field_of(std::string_view key) {
  const auto at =
      std::lower_bound(kFields.begin(), kFields.end(), key,
                       [](const NamedField& field, std::string_view wanted) { return field.key < wanted; });
  return at != kFields.end() && at->key == key ? at->field : Field::kNone;
}

}  // namespace unhang::formats::flight_recorder
