// SPDX-License-Identifier: Apache-2.0
//
// Which engine a command starts. Rules and defaults differ by engine, and whoever checks a spec has often
// said it there already.
#pragma once

#include <optional>
#include <string_view>

#include "checks/software.h"

namespace unhang::checks {

// "exec vllm serve …", "python -m vllm.entrypoints.openai.api_server", "python -m sglang.launch_server",
// "trtllm-serve", "VLLM::Worker_TP0" (what a process calls itself). Whatever quotes and brackets stand around
// the words; the first that is known counts.
std::optional<Engine> engine_of_command(std::string_view text);
// Of an image whose entry point is the server: "vllm/vllm-openai:v0.11.0".
std::optional<Engine> engine_of_image(std::string_view image);

}  // namespace unhang::checks
