// SPDX-License-Identifier: Apache-2.0
//
// The verdicts of earlier incidents that a person keeps in a folder (`--history`): everything below it that
// `unhang diagnose --json` wrote, found by content. Anything else is passed over and named.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/earlier_verdict.h"

namespace unhang::cli {

struct HistoryFolder {
  std::vector<model::EarlierVerdict> verdicts;  // in the order of their paths
  std::vector<std::string> skipped;             // "old/notes.txt: it is no verdict …"
};

// At most the last 10,000 files by name, 1 GiB of them in all. Fails where there is no such folder
// (kNoInput).
base::Result<HistoryFolder> read_history(const std::string& folder);

// One line for people on what was skipped; empty: nothing was.
std::string skipped_words(const HistoryFolder& history);

}  // namespace unhang::cli
