// SPDX-License-Identifier: Apache-2.0
//
// Joins what all sources say of who is who: fills Case::identities and Case::hosts, gives every machine one
// name throughout the Case, and completes hosts, pids and devices of ranks and the ranks of log writers from
// each other. Keys by strength: (communicator, rank in it), (host, pid), PCI address, file name. Sources that
// disagree become conflicts; what dumps and RAS say stays.
#pragma once

#include "join/bundle_facts.h"
#include "model/case.h"

namespace unhang::join {

// Call last, when ranks, RAS, logs and processes are joined. Linear in the facts, but for sorting.
void join_identities(const BundleFacts& bundles, model::Case& joined);

}  // namespace unhang::join
