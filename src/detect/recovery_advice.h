// SPDX-License-Identifier: Apache-2.0
//
// What to do next. It follows from the state first and from the cause second: one rank that left the sequence
// means that the whole group is rebuilt, whatever the reason was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/case.h"
#include "model/verdict.h"

namespace unhang::detect {

// What can be asked of the job, by what the evidence shows: a step that cannot work is none.
struct Askable {
  bool ras = true;                   // it was not asked, or it answered
  bool over = false;                 // a command that ended, or that was ended after the look at it
  std::optional<std::int64_t> root;  // a process that lived when it was looked at, above the others
};
Askable askable(const model::Case& joined);

// `culprits` is the words for the commands ("rank 5"); empty where nobody is named.
model::Recovery advise(const model::Verdict& verdict, const std::string& culprits, const Askable& job = {});

}  // namespace unhang::detect
