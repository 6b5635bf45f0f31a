// SPDX-License-Identifier: Apache-2.0
//
// What a training loop prints of its steps: "step=12 loss=2.3", "iteration      12/  500 | lm loss: 2.3".
#pragma once

#include <cstdint>
#include <string_view>

namespace unhang::formats::log {

// The number behind "step", "iter", "iteration" as a word; -1: none.
std::int64_t step_in(std::string_view text);

// Whether "loss" stands there as a word, and a number behind it.
bool has_loss(std::string_view text);

}  // namespace unhang::formats::log
