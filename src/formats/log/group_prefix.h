// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch's NCCL process group writes in front of its sentences, by release:
//   [Rank 4]                                  <= 2.1, and time-outs of all releases
//   [PG 0 Rank 4]                             2.2, 2.3: a count of the process
//   [PG 0 (default_pg) Rank 4], [PG 3 Rank 4] 2.4: the name of the group
//   [PG ID 2 PG GUID 9(desc) Rank 4]          since 2.5: count and name
#pragma once

#include <cstdint>
#include <string_view>

namespace unhang::formats::log {

struct GroupPrefix {
  std::int32_t rank = -1;        // inside the group; -1: not printed
  std::string_view id;           // count of the process
  std::string_view name;         // the key across ranks
  std::string_view description;  // "default_pg"
};

// The last such prefix that begins before `end` in `text`. A bare "[PG 3 Rank 4]" gives `name` when
// `bare_is_name`, else `id`.
GroupPrefix read_group_prefix(std::string_view text, std::size_t end, bool bare_is_name);

}  // namespace unhang::formats::log
