// SPDX-License-Identifier: Apache-2.0
//
// The zone of logs that state none, where the evidence shows it: a watchdog's line tells of a collective
// whose call the Flight Recorder has in UTC, or a communicator is complete in one log with a zone and in one
// without. The two times of one fact differ by a zone, a whole number of quarter-hours. And the year of dates
// that have none, from dumps and bundles where no log has a full date. What is assumed is written into
// Case::time_assumptions, also that a time is read as UTC because nothing is known.
#pragma once

#include "model/case.h"

namespace unhang::join {

// Wants Case::ranks and logs. Times whose zone is inferred become UTC. Linear in the facts, but for sorting.
void infer_zones(model::Case& joined);

}  // namespace unhang::join
