// SPDX-License-Identifier: Apache-2.0
//
// Faults in which a rank goes on but calls something else than the others expect.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulate/fault.h"

namespace unhang::simulate {
namespace {

using model::OpKind;

struct Target {
  Slot slot;
  Role role;
};

// A group in which the others are a majority, if there is one.
Target choose_group(Injection& in, bool tensor_too) {
  std::vector<Target> found;
  const Layout& layout = in.layout();
  if (layout.ranks() >= 3) found.push_back({Slot::kWorld, Role::kWorldTail});
  if (layout.data() >= 3) found.push_back({Slot::kData, Role::kBucket});
  if (tensor_too && layout.tensor() >= 3) found.push_back({Slot::kTensor, Role::kTensorTail});
  if (found.empty()) return {Slot::kWorld, Role::kWorldTail};
  return found[in.random.below(found.size())];
}

// The culprit alone where its group has a majority against it; else nobody can say which of the two is wrong.
void blame(Injection& in, Slot slot) {
  in.truth.injected = {in.culprit};
  in.truth.culprits = {in.culprit};
  if (in.layout().size(slot) == 2) {
    in.truth.culprits = in.layout().members(in.culprit, slot);
    in.truth.culprits_exact = false;
  }
}

std::string place(const Injection& in) {
  return fmt::format("{} of group {}", in.truth.operation, in.truth.group);
}

std::ptrdiff_t offset(std::size_t index) {
  return static_cast<std::ptrdiff_t>(index);
}

// A call too many or too few. Where nobody has a majority, the first pair that does not fit may as well be
// read as a mismatch of the two calls.
void accept_shift(Injection& in, std::vector<std::string> causes) {
  if (!in.truth.culprits_exact) causes.insert(causes.end(), {"op_mismatch", "size_mismatch"});
  in.truth.acceptable = {{"collective_desync", std::move(causes)}};
}

// The culprit's call differs from that of the others by what `change` does to it.
template <class Change>
void change_call(Injection& in, std::string_view cause, std::string_view words, Change change) {
  const Target target = choose_group(in, true);
  const std::size_t begin = in.fault_begin();
  Program& mine = in.job.own_program(in.culprit);
  const std::size_t index =
      mine.find(target.role, begin, in.random.below(mine.count(target.role, begin))).value();
  in.shows_at(target.slot, index);
  CallSpec spec = in.job.calls().spec(mine.works[index].call);
  change(spec);
  mine.works[index].call = in.job.calls().add(spec);
  blame(in, target.slot);
  in.truth.description = fmt::format("In the {}, rank {} {}.", place(in), in.culprit, words);
  in.truth.acceptable = {{"collective_desync", {std::string(cause)}}};
}

}  // namespace

base::Result<> inject_op_mismatch(Injection& in) {
  change_call(in, "op_mismatch", "calls another collective", [](CallSpec& spec) {
    // Of the same size, so that nothing but the kind differs.
    if (spec.kind == OpKind::kReduceScatter) spec.shape.front() *= spec.members;
    spec.kind = spec.kind == OpKind::kBroadcast ? OpKind::kAllReduce : OpKind::kBroadcast;
  });
  return {};
}

base::Result<> inject_size_mismatch(Injection& in) {
  change_call(in, "size_mismatch", "brings more elements than the others",
              [](CallSpec& spec) { spec.shape.front() += 3; });
  return {};
}

base::Result<> inject_dtype_mismatch(Injection& in) {
  change_call(in, "dtype_mismatch", "brings another type of elements",
              [](CallSpec& spec) { spec.dtype = spec.dtype == "BFloat16" ? "Half" : "BFloat16"; });
  return {};
}

base::Result<> inject_skipped_collective(Injection& in) {
  const Target target = choose_group(in, false);
  const std::size_t begin = in.fault_begin();
  Program& mine = in.job.own_program(in.culprit);
  // Not the last of its kind: the calls that follow are one off, which is what shows.
  const std::size_t index =
      mine.find(target.role, begin, in.random.below(mine.count(target.role, begin) - 1)).value();
  in.shows_at(target.slot, index);
  mine.works.erase(mine.works.begin() + offset(index));
  blame(in, target.slot);
  in.truth.description =
      fmt::format("Rank {} leaves out one {} and goes on with the next.", in.culprit, place(in));
  accept_shift(in, {"skipped_collective", "extra_collective", "rank_not_entered"});
  return {};
}

base::Result<> inject_extra_collective(Injection& in) {
  const Target target = choose_group(in, false);
  const std::size_t begin = in.fault_begin();
  Program& mine = in.job.own_program(in.culprit);
  const std::size_t index =
      mine.find(target.role, begin, in.random.below(mine.count(target.role, begin) - 1)).value();
  Work extra;
  extra.role = Role::kInserted;
  extra.slot = target.slot;
  extra.site = Site::kInserted;
  extra.call = in.job.calls().add(
      {.kind = OpKind::kAllReduce, .shape = {32}, .members = in.layout().size(target.slot)});
  mine.works.insert(mine.works.begin() + offset(index), extra);
  in.shows_at(target.slot, index);
  blame(in, target.slot);
  in.truth.description =
      fmt::format("Rank {} calls one {} that the others do not call.", in.culprit, place(in));
  accept_shift(in, {"extra_collective", "skipped_collective"});
  return {};
}

namespace {

base::Result<> invert_order(Injection& in, bool blocks) {
  const std::size_t begin = in.fault_begin();
  const Program& before = in.job.program(in.culprit);
  std::size_t first = 0;
  for (std::size_t i = begin; i + 1 < before.works.size() && first == 0; ++i) {
    const Role role = before.works[i].role;
    const bool of_subgroup = role == Role::kBucket || role == Role::kTensorTail;
    if (of_subgroup && before.works[i + 1].slot == Slot::kWorld) first = i;
  }
  if (first == 0) {
    return base::fail(base::ErrorCode::kUsage, "needs a second group with collectives: tp >= 2 or dp >= 2");
  }
  const Slot subgroup = before.works[first].slot;
  if (blocks) {
    for (std::int32_t stage = 0; stage < in.layout().pipeline(); ++stage) {
      Program& program = in.job.stage_program(stage);
      const std::size_t at = program.step_begin(in.job.steps()) - (before.step_begin(in.job.steps()) - first);
      program.works[at].host_waits = program.works[at + 1].host_waits = true;
    }
  }
  Program& mine = in.job.own_program(in.culprit);
  std::swap(mine.works[first], mine.works[first + 1]);
  in.shows_at(Slot::kWorld, first);
  blame(in, subgroup);
  in.truth.description = fmt::format(
      "Rank {} calls the {} before that of its {} group; all others call them the other way round.",
      in.culprit, place(in), description_of(subgroup));
  in.truth.acceptable = {{"collective_desync", {"order_inversion"}}};
  return {};
}

}  // namespace

base::Result<> inject_order_inversion(Injection& in) {
  return invert_order(in, true);
}

base::Result<> inject_order_inversion_async(Injection& in) {
  return invert_order(in, false);
}

namespace {

base::Result<> need_pipeline(const Injection& in) {
  if (!in.layout().has(Slot::kPipeline))
    return base::fail(base::ErrorCode::kUsage, "needs a pipeline: pp >= 2");
  if (in.job.calls().backend() == Backend::kGloo) {
    return base::fail(base::ErrorCode::kUsage,
                      "gloo records no point-to-point operation: use the backend nccl");
  }
  return {};
}

bool has_next(const Injection& in) {
  return in.layout().stage(in.culprit) + 1 < in.layout().pipeline();
}

Work blocking(End end) {
  Work work = transfer(end, Site::kInserted, Role::kInserted);
  work.host_waits = true;
  return work;
}

}  // namespace

base::Result<> inject_p2p_unmatched(Injection& in) {
  if (auto ok = need_pipeline(in); !ok) return ok;
  const bool to_next = has_next(in);
  const std::int32_t receiver =
      to_next ? in.layout().next_stage(in.culprit) : in.layout().previous_stage(in.culprit);
  Program& mine = in.job.own_program(in.culprit);
  std::size_t index = in.fault_begin();
  while (!mine.works[index].after_compute) ++index;
  mine.works.insert(mine.works.begin() + offset(index),
                    blocking(to_next ? End::kSendNext : End::kSendPrevious));
  in.shows_at(Slot::kPipeline, index);
  in.truth.injected = {in.culprit};
  in.truth.culprits = {in.culprit, receiver};
  in.truth.culprits_exact = false;
  in.truth.description = fmt::format("Rank {} sends once more to rank {}, which never receives and goes on.",
                                     in.culprit, receiver);
  in.truth.acceptable = {{"collective_desync", {"p2p_unmatched", "p2p_deadlock", "order_inversion"}}};
  return {};
}

base::Result<> inject_p2p_deadlock(Injection& in) {
  if (auto ok = need_pipeline(in); !ok) return ok;
  const std::int32_t earlier = has_next(in) ? in.culprit : in.layout().previous_stage(in.culprit);
  const std::int32_t later = in.layout().next_stage(earlier);
  for (const std::int32_t rank : {earlier, later}) {
    Program& mine = in.job.own_program(rank);
    const auto at = mine.works.begin() + offset(mine.step_begin(in.job.steps() - 1));
    const bool first = rank == earlier;
    mine.works.insert(at, {blocking(first ? End::kSendNext : End::kSendPrevious),
                           blocking(first ? End::kRecvNext : End::kRecvPrevious)});
  }
  in.shows_at(Slot::kPipeline, in.fault_begin());
  in.truth.injected = in.truth.culprits = {earlier, later};
  in.truth.description =
      fmt::format("Ranks {} and {} both send to each other before they receive, and wait.", earlier, later);
  in.truth.acceptable = {{"collective_desync", {"p2p_deadlock"}}};
  return {};
}

base::Result<> inject_split_mismatch(Injection& in) {
  Program& mine = in.job.own_program(in.culprit);
  const std::size_t index = mine.find(Role::kDispatch, in.fault_begin()).value();
  const Slot slot = mine.works[index].slot;
  in.shows_at(slot, index);
  CallSpec spec = in.job.calls().spec(mine.works[index].call);
  spec.shortfall = 7;
  mine.works[index].call = in.job.calls().add(spec);
  in.truth.injected = {in.culprit};
  // The split sizes are not in a dump: that the sums differ is seen, but not who is wrong.
  in.truth.culprits = in.layout().members(in.culprit, slot);
  in.truth.culprits_exact = false;
  in.truth.description = fmt::format(
      "In the {}, rank {} sends 7 rows fewer than its peers expect: the sums differ.", place(in), in.culprit);
  in.truth.acceptable = {{"collective_desync", {"split_mismatch", "size_mismatch"}}};
  return {};
}

}  // namespace unhang::simulate
