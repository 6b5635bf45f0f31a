// SPDX-License-Identifier: Apache-2.0
//
// The data of the cause catalogue, one file for each category of DESIGN (model/cause.h is the interface).
// Rules for an entry, which cause_test.cc checks where it can:
// - written for the person who was woken: what it is, how to be sure, what to do; commands that exist and can
// be copied,
//   with PID, HOST, DEV, PORT as the only blanks to fill;
// - `fix` is the true repair first; what only hides the trouble is called a workaround, with its price;
// - plain ASCII; no entry tells to raise a time-out as the repair of something that stands still.
#pragma once

#include <span>

#include "model/cause.h"

namespace unhang::model::causes {

std::span<const CauseInfo> initialization();
std::span<const CauseInfo> desync();
std::span<const CauseInfo> transport();
std::span<const CauseInfo> performance();
std::span<const CauseInfo> unavailable();
std::span<const CauseInfo> elsewhere();  // not communication, harmless, unknown

}  // namespace unhang::model::causes
