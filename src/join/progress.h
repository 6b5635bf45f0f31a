// SPDX-License-Identifier: Apache-2.0
//
// How far one rank came in each of its groups: which operations are finished, by the rules of the backend,
// and the last numbers that it enqueued and completed.
//
// - NCCL-like: finished is state "completed". Retired without completed was timed out or aborted.
// - gloo: the state is always "scheduled"; finished is retired, or op_id up to pg_status' last completed.
// - NCCL executes the operations of one communicator in order: what was enqueued before a finished one is
// finished.
// - pg_status counts collectives and point-to-point work together: it compares to collective_sequence only in
// groups
//   without point-to-point work.
#pragma once

#include "join/groups.h"

namespace unhang::join {

// Moves the operations of `dump` into `rank`, sets kFinished, and makes the rank's lanes. Linear in the
// operations.
void trace_progress(JoinedDump& dump, const DumpGroups& groups, const model::Case& joined, model::Rank& rank);

}  // namespace unhang::join
