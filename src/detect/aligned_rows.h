// SPDX-License-Identifier: Apache-2.0
//
// Builds the aligned table, row by row: collectives by group and ordinal, then transfers by directed edge.
// What each rank did in a row is compared with the majority of its row, never with the first file read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/aligned_table.h"

namespace unhang::detect {

// Empty and nullopt: everything.
struct RowFilter {
  std::vector<model::GroupIndex> groups = {};
  std::vector<model::RankIndex> ranks = {};  // rows that one of them takes part in, and only their cells
  std::string operation = {};                // kind ("all_gather") or recorded name ("_all_gather_base")
  std::optional<std::int64_t> from = {}, to = {};
  bool only_wrong = false;  // only rows that need attention
};

using RowSink = std::function<void(const model::AlignedRow&)>;

// Calls `sink` with each row that passes; the row is valid during the call only. Linear in operations plus
// rows times members.
void for_each_row(const model::Case& joined, const RowFilter& filter, const RowSink& sink);

// Groups that `text` means: their name, description or both as reports write it. Ascending.
std::vector<model::GroupIndex> find_groups(const model::Case& joined, std::string_view text);

}  // namespace unhang::detect
