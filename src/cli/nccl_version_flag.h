// SPDX-License-Identifier: Apache-2.0
//
// The value of --nccl-version: a release, or a log file of the job, in which NCCL names itself when it
// starts.
#pragma once

#include <string>

#include "base/result.h"
#include "collect/nccl_release.h"

namespace unhang::cli {

inline constexpr const char* kNcclVersionHelp =
    "the job's NCCL where it cannot be found out (2.28.9, or a log file of the job): some releases are not "
    "asked";

// kUsage where it is neither. Also where the file cannot be read. Looks at the first 16 MiB.
base::Result<collect::NcclRelease> nccl_version_of(const std::string& text);

}  // namespace unhang::cli
