// SPDX-License-Identifier: Apache-2.0
//
// Which rank wrote a line: told by a tag on the line, else by another line of the same process, else by the
// name of a file that holds one writer only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/log.h"

namespace unhang::join {

// Where the lines of a log name nobody at all, the file's name may ("rank_3.log", "worker-7.log").
void name_origins_by_file(std::string_view path, model::Log& log);

// Fills LogOrigin::global_rank from communicators (of the largest one: its ranks stand for the global ones)
// and from PyTorch's default group. Where other evidence knows how many ranks the job has (`world`), only a
// communicator of that size stands for it; and of two that share no process neither does.
void give_ranks(model::Log& log, std::optional<std::int32_t> world = {});

}  // namespace unhang::join
