// SPDX-License-Identifier: Apache-2.0
#include "report/timeline_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace unhang::report {
namespace {

using model::Operation;

constexpr std::size_t kDeepest = 256;  // slices inside each other
constexpr TraceTime kLatest = TraceTime{1} << 62;

// A slice with those that must lie inside it.
struct Unit {
  Slice slice;
  std::vector<Slice> inner;
};

class Lane {
 public:
  bool fits(const Unit& unit) {
    while (!x_ends.empty() && x_ends.back() <= unit.slice.start) x_ends.pop_back();
    if (unit.slice.start < x_taken || x_ends.size() >= kDeepest) return false;
    return x_ends.empty() || x_ends.back() >= unit.slice.end;
  }
  void take(const Unit& unit) {
    x_ends.push_back(unit.slice.end);
    // Until its inner slices are over, nothing else goes in between.
    for (const Slice& slice : unit.inner) x_taken = std::max(x_taken, slice.end);
  }

 private:
  std::vector<TraceTime> x_ends;  // of the slices that are open, outermost first
  TraceTime x_taken = 0;
};

TraceTime end_of(const Operation& op, const TraceSpan& span) {
  const TraceTime start = span.at(op.created_ns);
  if (!op.has(Operation::kFinished)) return span.end;
  if (op.completed_ns > op.created_ns) return span.at(op.completed_ns);
  if (op.duration_ms > 0) {
    return std::min<TraceTime>(start + static_cast<TraceTime>(std::min(double{op.duration_ms} * 1e6, 1e18)),
                               span.end);
  }
  return start;  // finished, but nobody recorded when
}

class SliceMaker {
 public:
  SliceMaker(const model::Rank& rank, const TraceSpan& span) : x_rank(rank), x_span(span) {}

  std::vector<Slice> make() {
    for (std::uint32_t i = 0; i < x_rank.operations.size(); ++i) add(i);
    for (const auto& [group, inner] : x_inner) {
      for (const std::uint32_t index : inner) x_units.push_back({slice(index), {}});
    }
    std::sort(x_units.begin(), x_units.end(), [](const Unit& a, const Unit& b) {
      return std::tuple(a.slice.start, ~a.slice.end, a.slice.operation) <
             std::tuple(b.slice.start, ~b.slice.end, b.slice.operation);
    });
    for (Unit& unit : x_units) place(unit);
    return std::move(x_out);
  }

 private:
  Slice slice(std::uint32_t index) const {
    const Operation& op = x_rank.operations[index];
    Slice out;
    out.operation = index;
    out.start = x_span.at(op.created_ns);
    out.end = std::max(end_of(op, x_span), out.start + 1);
    out.unfinished = !op.has(Operation::kFinished);
    return out;
  }

  void add(std::uint32_t index) {
    const Operation& op = x_rank.operations[index];
    if (op.created_ns == 0) return;
    if (op.has(Operation::kInner)) {
      x_inner[op.group].push_back(index);
      return;
    }
    Unit unit{slice(index), {}};
    if (op.has(Operation::kClosing)) take_inner(op, unit);
    x_units.push_back(std::move(unit));
  }

  // The block begins with its first operation; each of them is drawn until the next one was called.
  void take_inner(const Operation& closing, Unit& unit) {
    std::vector<std::uint32_t>& waiting = x_inner[closing.group];
    const TraceTime closed = unit.slice.start;
    for (const std::uint32_t index : waiting) {
      Slice inner = slice(index);
      inner.start = std::min(inner.start, closed);
      inner.unfinished = unit.slice.unfinished;
      unit.slice.start = std::min(unit.slice.start, inner.start);
      unit.inner.push_back(inner);
    }
    waiting.clear();
    std::stable_sort(unit.inner.begin(), unit.inner.end(),
                     [](const Slice& a, const Slice& b) { return a.start < b.start; });
    TraceTime next = closed;
    for (std::size_t i = unit.inner.size(); i-- > 0;) {
      Slice& inner = unit.inner[i];
      const TraceTime start = inner.start;
      inner.end = std::clamp(next, start + 1, std::max(unit.slice.end, start + 1));
      next = start;
    }
    if (!unit.inner.empty()) unit.slice.end = std::max(unit.slice.end, unit.inner.back().end);
  }

  void place(Unit& unit) {
    std::uint32_t lane = 0;
    while (lane < x_lanes.size() && !x_lanes[lane].fits(unit)) ++lane;
    if (lane == kMostLanes) {
      lane = kMostLanes - 1;
      unit.slice.end = unit.slice.start + 1;
      unit.slice.shortened = true;
      for (Slice& inner : unit.inner) {
        inner.start = unit.slice.start;
        inner.end = unit.slice.end;
        inner.shortened = true;
      }
    } else {
      if (lane == x_lanes.size()) x_lanes.emplace_back();
      x_lanes[lane].take(unit);
    }
    unit.slice.lane = lane;
    x_out.push_back(unit.slice);
    for (Slice& inner : unit.inner) {
      inner.lane = lane;
      x_out.push_back(inner);
    }
  }

  const model::Rank& x_rank;
  const TraceSpan& x_span;
  std::map<model::GroupIndex, std::vector<std::uint32_t>> x_inner;  // whose block is not closed yet
  std::vector<Unit> x_units;
  std::vector<Lane> x_lanes;
  std::vector<Slice> x_out;
};

}  // namespace

TraceTime TraceSpan::at(std::int64_t ns) const {
  if (ns <= origin_ns) return 0;
  return std::min(static_cast<TraceTime>(ns) - static_cast<TraceTime>(origin_ns), kLatest);
}

TraceSpan trace_span(const model::Case& joined) {
  TraceSpan out;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const model::Rank& rank : joined.ranks) {
    for (const Operation& op : rank.operations) {
      if (op.created_ns == 0) {
        ++out.without_time;
        continue;
      }
      first = std::min(first, op.created_ns);
      last = std::max({last, op.created_ns, op.started_ns, op.completed_ns});
    }
  }
  if (first > last) return out;
  constexpr TraceTime kLeastTail = 1'000'000;
  out.origin_ns = first;
  out.last = out.at(last);
  out.end = out.last + std::max(kLeastTail, out.last / 50);
  return out;
}

std::vector<Slice> slices_of(const model::Rank& rank, const TraceSpan& span) {
  return SliceMaker(rank, span).make();
}

}  // namespace unhang::report
