// SPDX-License-Identifier: Apache-2.0
//
// The joined table of who each rank is, with the source of each fact: what `unhang diagnose --show ranks`
// prints. Part of join/identities.h.
#pragma once

#include <string_view>
#include <vector>

#include "join/bundle_facts.h"
#include "model/case.h"

namespace unhang::join {

// Of all ranks that any source names. Reads the Case only.
std::vector<model::RankIdentity> identity_facts(const model::Case& joined, const BundleFacts& bundles);

// A variable whose value is a name of the machine or pod that a process runs in.
bool names_machine(std::string_view variable);

}  // namespace unhang::join
