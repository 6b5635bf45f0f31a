// SPDX-License-Identifier: Apache-2.0
//
// The exit status of commands that run named checks: the worst of them decides.
#pragma once

#include "cli/exit_codes.h"
#include "model/check_result.h"

namespace unhang::cli {

inline int exit_code_of(model::CheckStatus worst) {
  switch (worst) {
    case model::CheckStatus::kPass:
      return kExitOk;
    case model::CheckStatus::kUnknown:
      return kExitUnknown;
    case model::CheckStatus::kWarn:
      return kExitSlow;
    case model::CheckStatus::kFail:
      return kExitStopped;
  }
  return kExitUnknown;
}

}  // namespace unhang::cli
