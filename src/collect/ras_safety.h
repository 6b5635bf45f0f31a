// SPDX-License-Identifier: Apache-2.0
//
// Some releases of NCCL can crash the job that is asked. Which, and on what kind of question: the table of
// what is known, so that nothing is asked that may make things worse.
#pragma once

#include <optional>
#include <string>

#include "collect/nccl_release.h"

namespace unhang::collect {

enum class RasPermission {
  kAll,       // no crash is known
  kJsonOnly,  // text may crash it
  kNone,      // any question may crash it
};

struct RasSafety {
  RasPermission permission = RasPermission::kAll;
  std::string reason;  // what may happen, when, and where it is reported; empty: nothing is known
};

// Without a release: everything is allowed, because nothing is known.
RasSafety ras_safety(const std::optional<NcclRelease>& release);

// Whether the release is too old for RAS at all (before 2.24).
bool has_ras(const NcclRelease& release);

}  // namespace unhang::collect
