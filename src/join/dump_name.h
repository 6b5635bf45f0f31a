// SPDX-License-Identifier: Apache-2.0
//
// Rank and host from a dump's file name. The dump itself does not say whose it is; by convention the rank is
// the last number of the name ("nccl_trace_rank_12", "_dump_3.json.gz") and some sites put the host before it
// ("nccl_trace_rank_node02_0").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unhang::join {

struct DumpName {
  std::optional<std::int32_t> rank;
  std::string host;  // empty: the name holds none
};

DumpName read_dump_name(std::string_view path);

}  // namespace unhang::join
