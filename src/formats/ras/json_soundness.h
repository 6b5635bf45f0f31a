// SPDX-License-Identifier: Apache-2.0
//
// Whether the numbers of a JSON answer can be true, and the words that the text form has and this one does
// not: status, incomplete, error, mismatch.
#pragma once

#include "formats/ras/reading.h"
#include "model/ras.h"

namespace unhang::formats::ras {

// Drops communicators and ranks that cannot be, and marks the answer then; puts all in order; sets the status
// of each rank, and what the communicators differ in and lack.
void judge(model::RasAnswer& answer, Reading& reading);

}  // namespace unhang::formats::ras
