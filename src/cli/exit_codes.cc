// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_codes.h"

#include <array>

namespace unhang::cli {
namespace {

constexpr std::array<ExitMeaning, 4> kVerdicts{{
    {kExitOk, "it advances, is idle or starting; nothing wrong was found"},
    {kExitSlow, "it advances and is slower than it should be"},
    {kExitStopped, "it stopped, died or failed, also where the cause is not known"},
    {kExitUnknown, "unknown: nothing wrong was proven, and too little was seen"},
}};

constexpr std::array<ExitMeaning, 9> kErrors{{
    {kExitUsage, "the command line is wrong"},
    {kExitData, "there is input, and none of it could be read"},
    {kExitNoInput, "the input does not exist or cannot be opened"},
    {kExitUnavailable, "a service or tool that is needed does not answer"},
    {kExitInternal, "internal error, or not enough memory"},
    {kExitIo, "reading or writing failed"},
    {kExitTryAgain, "it may work later"},
    {kExitConfig, "a configuration file is wrong"},
    {kExitDeadline, "the deadline that was asked for has passed"},
}};

bool is_verdict(int code) {
  return code >= kExitOk && code <= kExitUnknown;
}

}  // namespace

int exit_code(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::kUsage:
      return kExitUsage;
    case base::ErrorCode::kData:
      return kExitData;
    case base::ErrorCode::kNoInput:
      return kExitNoInput;
    case base::ErrorCode::kUnavailable:
      return kExitUnavailable;
    case base::ErrorCode::kInternal:
      return kExitInternal;
    case base::ErrorCode::kIo:
      return kExitIo;
    case base::ErrorCode::kTryAgain:
      return kExitTryAgain;
    case base::ErrorCode::kConfig:
      return kExitConfig;
  }
  return kExitInternal;
}

std::span<const ExitMeaning> verdict_exit_codes() {
  return kVerdicts;
}
std::span<const ExitMeaning> error_exit_codes() {
  return kErrors;
}

std::optional<ExitStyle> parse_exit_style(std::string_view name) {
  if (name == "default") return ExitStyle::kDefault;
  if (name == "nagios") return ExitStyle::kNagios;
  if (name == "npd") return ExitStyle::kNpd;
  if (name == "nhc") return ExitStyle::kNhc;
  if (name == "zero") return ExitStyle::kZero;
  return std::nullopt;
}

int styled_exit_code(ExitStyle style, int code) {
  switch (style) {
    case ExitStyle::kDefault:
      return code;
    case ExitStyle::kNagios:
      return is_verdict(code) ? code : 3;
    case ExitStyle::kNpd:
      return code == kExitOk ? 0 : code == kExitSlow || code == kExitStopped ? 1 : 2;
    case ExitStyle::kNhc:
      return code == kExitOk ? 0 : 1;
    case ExitStyle::kZero:
      return is_verdict(code) ? 0 : code;
  }
  return code;
}

}  // namespace unhang::cli
