// SPDX-License-Identifier: Apache-2.0
//
// Two records on one physical line, as processes that share an output make them: where the next begins.
#pragma once

#include <cstddef>
#include <string_view>

namespace unhang::formats::log {

// Offset in `line` of a record of NCCL ("host:pid:tid [dev] NCCL INFO ") or of torch ("[rank3]:[E…") that
// begins at `from` or later; npos when there is none. `host`: the host of the record before, since nothing
// else says where its glued successor's name begins.
std::size_t next_record(std::string_view line, std::size_t from, std::string_view host);

}  // namespace unhang::formats::log
