// SPDX-License-Identifier: Apache-2.0
//
// The variables that NCCL, PyTorch and engines read, as far as checks speak of them: how a value is parsed,
// since which release it is read, what it was called before or is called now.
//
// Sources: NCCL's env.rst and param.cc (ncclLoadParam: strtoll with base 0), PyTorch's ProcessGroupNCCL.hpp,
// FlightRecorder.hpp and Utils.hpp (getCvarBool, getCvarInt), read at the releases named.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checks/environment.h"
#include "checks/software.h"

namespace unhang::checks {

enum class ValueKind : std::uint8_t {
  kText,
  kNcclInteger,   // strtoll: what is no number is 0 (to 2.30), or the default (later); never an error
  kTorchBoolean,  // y yes 1 t true, n no 0 f false; anything else ends the process group's creation
  kTorchInteger,  // std::stoi: no number ends the process group's creation
  kInteger,       // of an engine
};

struct KnownVariable {
  std::string_view name;
  ValueKind kind = ValueKind::kText;
  // NCCL: since 2.<since>. PyTorch (TORCH_…): likewise. 0: always, as far as it matters here.
  int since = 0;
};

std::span<const KnownVariable> known_variables();  // ascending name
const KnownVariable* find_known(std::string_view name);

// A name that was given up for another one.
struct RenamedVariable {
  std::string_view old_name, new_name;  // an empty new_name: gone without a successor
  bool is_torch = true;                 // else NCCL's
  int new_since = 0;                    // the new name is read since 2.<new_since>
  int old_until = 0;                    // the old one no longer since 2.<old_until>; 0: still read
};
std::span<const RenamedVariable> renamed_variables();

// The value under any of its names, the one that PyTorch prefers first: the newest name that this release
// reads. The variable itself, for places; nullptr: not set.
const Variable* find_under_any_name(const Environment& environment, const Software& software,
                                    std::string_view new_name);

std::optional<std::int64_t> integer_of(std::string_view text);  // all of it, in decimal or 0x…
std::optional<bool> torch_boolean_of(std::string_view text);    // as getCvarBool reads it
std::int64_t nccl_integer_of(std::string_view text);            // as strtoll reads it

}  // namespace unhang::checks
