// SPDX-License-Identifier: Apache-2.0
//
// tqdm's bars: "Running tokenizer on dataset:  38%|███▊ | 32066/85249 [32:12<53:25, 16.59ba/s]".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unhang::formats::log {

struct ProgressBar {
  std::string_view title;  // before the percentage, without the colon
  std::int64_t percent = -1;
  std::int64_t done = -1, all = -1;
};

// The last bar of a line; nullopt where "NN%|" does not stand there.
std::optional<ProgressBar> read_progress_bar(std::string_view text);

}  // namespace unhang::formats::log
