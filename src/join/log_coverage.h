// SPDX-License-Identifier: Apache-2.0
//
// Of which ranks the other sources than dumps and RAS tell: log lines of the process, a kernel log of its
// host, a look at the process. Only where such a source is among the inputs its silence says something.
#pragma once

#include "join/bundle_facts.h"
#include "model/case.h"

namespace unhang::join {

// Sets Case::has_kernel_log and adds rows "log", "kernel_log" and "stacks" to Case::coverage. Call when
// identities are joined. `bundles`: where files lay.
void cover_logs(const BundleFacts& bundles, model::Case& joined);

}  // namespace unhang::join
