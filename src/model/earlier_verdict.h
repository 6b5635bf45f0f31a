// SPDX-License-Identifier: Apache-2.0
//
// A verdict that was written down before (schema unhang.verdict/1), as far as it matters for the question
// whether something fails again: whom it named, where, when and why. Values only.
#pragma once

#include <string>
#include <vector>

#include "model/verdict.h"

namespace unhang::model {

struct EarlierVerdict {
  std::string file;
  std::string category, cause;              // words of the release that wrote it
  std::vector<Subject> culprits, suspects;  // without `why` and evidence; bounded by the reader
  std::string group, operation;             // where
  std::int64_t ordinal = -1;                // -1: not known
  std::string stalled_since;                // or the first time that it states; RFC 3339 UTC, or empty
  std::vector<std::string> instances;       // of the model, that it named as hit
};

}  // namespace unhang::model
