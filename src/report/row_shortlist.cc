// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/collectives.h"

namespace unhang::report {
namespace {

bool more_wanted(const RowShortlist::Kept& a, const RowShortlist::Kept& b) {
  return std::pair(a.priority, a.index) < std::pair(b.priority, b.index);
}

}  // namespace

void RowCounts::add(const model::AlignedRow& row) {
  ++rows;
  if (row.attention == model::Attention::kWrong) ++wrong;
  if (row.attention == model::Attention::kNoted) ++noted;
}

void RowShortlist::add(const model::AlignedRow& row) {
  constexpr std::uint64_t kNoted = std::uint64_t{1} << 40;
  constexpr std::uint64_t kFine = std::uint64_t{1} << 41;
  x_total.add(row);
  RowCounts& section = x_sections[section_of(row)];
  section.add(row);
  std::uint64_t priority = section.wrong;
  if (row.attention == model::Attention::kNoted) priority = kNoted + section.noted;
  if (row.attention == model::Attention::kNone) {
    priority = kFine + static_cast<std::uint64_t>(std::max<std::int64_t>(row.rows_after, 0));
  }
  const std::size_t index = x_total.rows - 1;
  if (x_limit == 0) {
    x_heap.push_back({priority, index, row});
    return;
  }
  if (x_heap.size() == x_limit) {
    if (x_heap.front().priority <= priority) return;
    std::pop_heap(x_heap.begin(), x_heap.end(), more_wanted);
    x_heap.pop_back();
  }
  x_heap.push_back({priority, index, row});
  std::push_heap(x_heap.begin(), x_heap.end(), more_wanted);
}

std::vector<RowShortlist::Kept> RowShortlist::take() {
  std::sort(x_heap.begin(), x_heap.end(), [](const Kept& a, const Kept& b) { return a.index < b.index; });
  return std::move(x_heap);
}

}  // namespace unhang::report
