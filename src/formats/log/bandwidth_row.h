// SPDX-License-Identifier: Apache-2.0
//
// One row of a table of nccl-tests. Its columns changed with the years: no root, no reduction, "error"
// instead of "#wrong", four more per half with -I, a time stamp with -S.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/log.h"

namespace unhang::formats::log {

// What the line above the rows says: "#  size count type redop root time algbw busbw #wrong …".
struct BandwidthColumns {
  bool known = false;
  bool reduction = true, root = true;
  bool wrong = true;              // a column of wrong values or errors at the end of each half
  std::size_t per_iteration = 0;  // columns of -I in each half
};

// nullopt when `text` is no such line.
std::optional<BandwidthColumns> bandwidth_columns(std::string_view text);

struct BandwidthRowRead {
  model::BandwidthRow row;
  bool cut = false;  // it has fewer values than columns
};

// nullopt when `text` is no row. Without known columns the layout follows from the number of values.
std::optional<BandwidthRowRead> bandwidth_row(std::string_view text, const BandwidthColumns& columns);

}  // namespace unhang::formats::log
