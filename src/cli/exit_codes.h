// SPDX-License-Identifier: Apache-2.0
//
// Every exit status of the program, and how other monitors want to hear it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace unhang::cli {

// 0 to 3 are verdicts (model::exit_code gives them), 64 to 78 are errors as in sysexits.h.
enum ExitCode : int {
  kExitOk = 0,       // advancing, idle or starting; healthy; passed
  kExitSlow = 1,     // slow, drifted
  kExitStopped = 2,  // stopped, dead or failed, also where the cause is not known
  kExitUnknown = 3,  // unknown, and nothing wrong was proven
  kExitUsage = 64,
  kExitData = 65,
  kExitNoInput = 66,
  kExitUnavailable = 69,
  kExitInternal = 70,
  kExitIo = 74,
  kExitTryAgain = 75,
  kExitConfig = 78,
  kExitDeadline = 124,  // our own deadline passed
};

int exit_code(base::ErrorCode code);

struct ExitMeaning {
  int code;
  std::string_view means;
};
// For help and man pages, ascending: what a verdict says, and the errors.
std::span<const ExitMeaning> verdict_exit_codes();
std::span<const ExitMeaning> error_exit_codes();

// What the caller of the program expects of an exit status.
enum class ExitStyle {
  kDefault,
  kNagios,  // monitoring plugin: 0 ok, 1 warning, 2 critical, 3 unknown (errors too)
  kNpd,     // Kubernetes node-problem-detector: 0 no problem, 1 problem, 2 unknown (errors too)
  kNhc,     // node health check: 0 passed, 1 anything else: a node is not passed unseen
  kZero,    // for scripts that stop at the first failure: every verdict is 0, errors stay
};
std::optional<ExitStyle> parse_exit_style(std::string_view name);
int styled_exit_code(ExitStyle style, int code);

}  // namespace unhang::cli
