// SPDX-License-Identifier: Apache-2.0
//
// Which names somebody reads, and which one was meant by a name that nobody does. A misspelt variable has no
// effect and no program says so.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "checks/environment.h"

namespace unhang::checks {

enum class NameKind : std::uint8_t {
  kRead,      // by NCCL, PyTorch, an engine or a plugin, in some release
  kNobodys,   // people believe that it is read, and it never was
  kMisspelt,  // `meant` is read
  kNotKnown,  // new, of a plugin, or wrong: nothing can be said of it
};

struct NameVerdict {
  NameKind kind = NameKind::kRead;
  std::string_view meant = {};
};

// Names without a prefix that is NCCL's or the Flight Recorder's are always kRead.
NameVerdict verdict_of_name(std::string_view name);

// Adds the names of kNotKnown, and a sentence about them for a person; nullopt: there are none.
void add_unknown_names(const Environment& environment, std::set<std::string>& names);
std::optional<std::string> words_of_unknown_names(const std::set<std::string>& names);

}  // namespace unhang::checks
