// SPDX-License-Identifier: Apache-2.0
//
// What can still be asked of the job, by what the evidence shows: a step that cannot work is none.
#pragma once

#include <cstdint>
#include <optional>

#include "model/case.h"

namespace unhang::detect {

struct JobContact {
  bool ras = true;                   // it was not asked, or it answered
  std::optional<std::int64_t> root;  // a process that lived when it was looked at, above the others
  bool over = false;                 // a command that ended, or that was ended after the look at it
};
JobContact contact_of(const model::Case& joined);

}  // namespace unhang::detect
