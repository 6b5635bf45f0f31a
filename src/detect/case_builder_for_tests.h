// SPDX-License-Identifier: Apache-2.0
//
// Cases for the tests of the detectors, in few lines:
//
//   CaseBuilder c(4);
//   const auto world = c.group("0", "default_pg", {0, 1, 2, 3});
//   c.done(world, "all_reduce").done(world, "all_reduce");
//   c.open(world, "all_gather", {0, 1, 3});             // rank 2 is missing
//   const Explained e = c.run(find_not_entered);
//
// Sequence numbers count per rank and group, so that a call left out shifts all that follow, as in a real
// dump. The global rank is the index. Each line happens one millisecond after the one before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/detector.h"
#include "model/case.h"

namespace unhang::detect {

struct CallOptions {
  std::vector<std::int64_t> in{64};
  std::vector<std::int64_t> out{64};
  std::string dtype = "Float";
  std::int64_t late_ns = 0;
  std::int64_t completed_after_ns = 0;                // after the time of the line; 0: no such time is known
  model::OpState state = model::OpState::kScheduled;  // of what is not finished
  float duration_ms = model::Operation::kNoDuration;
};

inline CallOptions elements(std::int64_t count) {
  return {.in = {count}, .out = {count}};
}
inline CallOptions elements(std::int64_t in, std::int64_t out) {
  return {.in = {in}, .out = {out}};
}
inline CallOptions dtype(std::string name) {
  return {.dtype = std::move(name)};
}

class CaseBuilder {
 public:
  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  static constexpr std::int64_t kMillisecond = 1'000'000;

  explicit CaseBuilder(int ranks) {
    x_case.has_dumps = true;
    for (int i = 0; i < ranks; ++i) {
      model::Rank& rank = x_case.ranks.emplace_back();
      rank.global_rank = i;
      rank.input = static_cast<model::InputIndex>(i);
      rank.operations_known = rank.tail_known = true;
      x_case.inputs.push_back({"dump_" + std::to_string(i), "flight_recorder_pickle", {}});
    }
  }

  model::GroupIndex group(std::string_view name, std::string_view description,
                          std::vector<model::RankIndex> members, std::string_view backend = "nccl") {
    model::Group& group = x_case.groups.emplace_back();
    group.name = x_case.vocabulary.symbols.intern(name);
    group.description = x_case.vocabulary.symbols.intern(description);
    group.backend = x_case.vocabulary.symbols.intern(backend);
    group.members = std::move(members);
    group.membership = model::Membership::kDeclared;
    return static_cast<model::GroupIndex>(x_case.groups.size() - 1);
  }

  // Nobody declared the group: its members are those who recorded something in it.
  CaseBuilder& inferred(model::GroupIndex group) {
    x_case.groups[group].membership = model::Membership::kInferred;
    return *this;
  }

  // All members, or the given ranks, make the call and finish it.
  CaseBuilder& done(model::GroupIndex group, std::string_view name, const CallOptions& options = {}) {
    return done(group, name, x_case.groups[group].members, options);
  }
  CaseBuilder& done(model::GroupIndex group, std::string_view name,
                    const std::vector<model::RankIndex>& ranks, const CallOptions& options = {}) {
    return call(group, name, ranks, options, true);
  }
  // The given ranks make the call and do not finish it.
  CaseBuilder& open(model::GroupIndex group, std::string_view name,
                    const std::vector<model::RankIndex>& ranks, const CallOptions& options = {}) {
    return call(group, name, ranks, options, false);
  }
  // Lines up to end_line() happen at the same time: one call, made differently by some.
  CaseBuilder& same_time() {
    x_held = true;
    return *this;
  }
  CaseBuilder& end_line(std::int64_t pause_ns = 0) {
    x_held = false;
    x_now += kMillisecond + pause_ns;
    return *this;
  }

  // Transfers: `peer` is the rank inside the group.
  CaseBuilder& send(model::GroupIndex group, model::RankIndex rank, std::int32_t peer, bool finished = false,
                    const CallOptions& options = {}) {
    return transfer(group, rank, peer, true, finished, options);
  }
  CaseBuilder& receive(model::GroupIndex group, model::RankIndex rank, std::int32_t peer,
                       bool finished = false, const CallOptions& options = {}) {
    return transfer(group, rank, peer, false, finished, options);
  }

  CaseBuilder& silent(model::RankIndex rank) {
    model::Rank& r = x_case.ranks[rank];
    r.input.reset();
    r.operations_known = r.tail_known = false;
    r.operations.clear();
    return *this;
  }
  // The last `count` operations were cut off.
  CaseBuilder& cut(model::RankIndex rank, std::size_t count) {
    auto& operations = x_case.ranks[rank].operations;
    operations.resize(operations.size() - count);
    x_case.ranks[rank].tail_known = false;
    return *this;
  }
  // The oldest `count` operations have left the ring.
  CaseBuilder& wrap(model::RankIndex rank, std::size_t count) {
    auto& operations = x_case.ranks[rank].operations;
    operations.erase(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(count));
    x_case.ranks[rank].wrapped = true;
    return *this;
  }
  CaseBuilder& host(model::RankIndex rank, std::string name, std::int64_t clock_ahead_ns = 0) {
    x_case.ranks[rank].host = std::move(name);
    x_skew[rank] = clock_ahead_ns;
    return *this;
  }

  const model::Case& joined() {
    for (model::Rank& rank : x_case.ranks) make_lanes(rank);
    return x_case;
  }
  // The same, to be changed by the test; ends the building.
  model::Case take() {
    joined();
    return std::move(x_case);
  }
  std::vector<Explanation> run(std::vector<Explanation> (*detector)(const Analysis&)) {
    return detector(analyse(joined()));
  }

 private:
  CaseBuilder& call(model::GroupIndex group, std::string_view name,
                    const std::vector<model::RankIndex>& ranks, const CallOptions& options, bool finished) {
    for (const model::RankIndex rank : ranks) {
      model::Operation op = make(group, rank, options, finished);
      op.collective_sequence = ++x_sequence[{rank, group}];
      op.signature = signature("nccl:" + std::string(name), options);
      x_case.ranks[rank].operations.push_back(op);
    }
    if (!x_held) x_now += kMillisecond;
    return *this;
  }

  CaseBuilder& transfer(model::GroupIndex group, model::RankIndex rank, std::int32_t peer, bool is_send,
                        bool finished, const CallOptions& options) {
    const auto& members = x_case.groups[group].members;
    const auto self = std::find(members.begin(), members.end(), rank) - members.begin();
    model::Operation op = make(group, rank, options, finished);
    op.flags |= model::Operation::kP2p;
    op.p2p_sequence = ++x_p2p[{rank, group}];
    op.signature = signature((is_send ? "nccl:send " : "nccl:recv ") + std::to_string(self) +
                                 (is_send ? "->" : "<-") + std::to_string(peer),
                             options);
    x_case.ranks[rank].operations.push_back(op);
    x_case.groups[group].carries_p2p = true;
    if (!x_held) x_now += kMillisecond;
    return *this;
  }

  model::Operation make(model::GroupIndex group, model::RankIndex rank, const CallOptions& options,
                        bool finished) {
    model::Operation op;
    op.group = group;
    op.created_ns = kStart + x_now + options.late_ns + x_skew[rank];
    op.state = finished ? model::OpState::kCompleted : options.state;
    if (finished) op.flags |= model::Operation::kFinished;
    if (options.completed_after_ns != 0)
      op.completed_ns = kStart + x_now + options.completed_after_ns + x_skew[rank];
    op.duration_ms = options.duration_ms;
    op.timeout_ms = 600000;
    op.record_id = x_records[rank]++;
    return op;
  }

  model::SignatureId signature(const std::string& profiling_name, const CallOptions& options) {
    const model::ProfilingName split = model::split_profiling_name(profiling_name);
    auto& v = x_case.vocabulary;
    const auto shapes = [&](const std::vector<std::int64_t>& dims) {
      if (dims.empty()) return model::ShapesId{0};
      std::vector<std::int64_t> encoded{static_cast<std::int64_t>(dims.size())};
      encoded.insert(encoded.end(), dims.begin(), dims.end());
      return v.shapes.intern(encoded);
    };
    model::Signature s{.profiling_name = v.symbols.intern(profiling_name),
                       .backend = v.symbols.intern(split.backend),
                       .name = v.symbols.intern(split.name),
                       .kind = split.kind,
                       .self = split.self,
                       .peer = split.peer,
                       .input_shapes = shapes(options.in),
                       .output_shapes = shapes(options.out),
                       .input_dtypes = v.symbols.intern(options.dtype),
                       .output_dtypes = v.symbols.intern(options.dtype)};
    return v.intern(s);
  }

  void make_lanes(model::Rank& rank) {
    rank.lanes.clear();
    const auto index = *x_case.find_rank(rank.global_rank);
    for (model::GroupIndex group = 0; group < x_case.groups.size(); ++group) {
      const auto& members = x_case.groups[group].members;
      if (!rank.input || std::find(members.begin(), members.end(), index) == members.end()) continue;
      model::Lane& lane = rank.lanes.emplace_back();
      lane.group = group;
      for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        const model::Operation& op = rank.operations[i];
        if (op.group != group) continue;
        if (op.has(model::Operation::kP2p)) {
          lane.p2p.push_back(i);
          continue;
        }
        lane.collectives.push_back(i);
        lane.last_enqueued = op.collective_sequence;
        if (op.has(model::Operation::kFinished)) lane.last_completed = op.collective_sequence;
      }
      if (lane.collectives.empty() && rank.tail_known && !rank.wrapped) lane.last_enqueued = -1;
    }
  }

  model::Case x_case;
  std::map<std::pair<model::RankIndex, model::GroupIndex>, std::int64_t> x_sequence, x_p2p;
  std::map<model::RankIndex, std::int64_t> x_skew, x_records;
  std::int64_t x_now = 0;
  bool x_held = false;
};

// A result in one line, for tests: "collective_desync/rank_not_entered high 2,5"; several are joined by "; ".
inline std::string summary(const std::vector<Explanation>& found) {
  std::string out;
  for (const Explanation& e : found) {
    if (!out.empty()) out += "; ";
    out += std::string(model::name_of(e.category)) + '/' + std::string(e.cause) + ' ' +
           std::string(model::name_of(e.strength));
    for (std::size_t i = 0; i < e.culprits.size(); ++i)
      out += (i == 0 ? ' ' : ',') + std::to_string(e.culprits[i]);
    if (!e.explains_stall) out += " (no stall)";
  }
  return out.empty() ? "nothing" : out;
}

}  // namespace unhang::detect
