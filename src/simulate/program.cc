// SPDX-License-Identifier: Apache-2.0
#include "simulate/program.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace unhang::simulate {
namespace {

using model::OpKind;

constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kSequenceShard = 512;

class ProgramBuilder {
 public:
  ProgramBuilder(const Layout& layout, std::int32_t stage, CallTable& calls)
      : x_layout(layout), x_stage(stage), x_last_stage(layout.pipeline() - 1), x_calls(calls) {
    const auto end_call = [&](End end, OpKind kind, std::int32_t peer) {
      if (peer < 0 || peer > x_last_stage) return;
      x_program.end_calls[static_cast<std::size_t>(end)] = x_calls.add({.kind = kind,
                                                                        .shape = {kSequenceShard, 1, kHidden},
                                                                        .dtype = "BFloat16",
                                                                        .self = stage,
                                                                        .peer = peer});
    };
    end_call(End::kSendNext, OpKind::kSend, stage + 1);
    end_call(End::kRecvNext, OpKind::kRecv, stage + 1);
    end_call(End::kSendPrevious, OpKind::kSend, stage - 1);
    end_call(End::kRecvPrevious, OpKind::kRecv, stage - 1);
  }

  Program build(std::size_t steps) {
    setup();
    x_program.setup_size = x_program.works.size();
    pipeline();
    const std::size_t tail_begin = x_program.works.size();
    tail();
    x_program.works[tail_begin].after_compute = true;
    x_program.step_size = x_program.works.size() - x_program.setup_size;
    const std::vector<Work> step(x_program.works.begin() + static_cast<std::ptrdiff_t>(x_program.setup_size),
                                 x_program.works.end());
    x_program.works.reserve(x_program.step_begin(steps));
    for (std::size_t i = 1; i < steps; ++i) {
      x_program.works.insert(x_program.works.end(), step.begin(), step.end());
    }
    return std::move(x_program);
  }

 private:
  Work& collective(Role role, Slot slot, Site site, OpKind kind, std::vector<std::int64_t> shape,
                   std::string dtype = "Float") {
    Work work;
    work.role = role;
    work.slot = slot;
    work.site = site;
    work.call = x_calls.add(
        {.kind = kind, .shape = std::move(shape), .dtype = std::move(dtype), .members = x_layout.size(slot)});
    return x_program.works.emplace_back(work);
  }

  void tensor(Role role, Site site, OpKind kind, std::vector<std::int64_t> shape,
              std::string dtype = "BFloat16") {
    if (x_layout.has(Slot::kTensor))
      collective(role, Slot::kTensor, site, kind, std::move(shape), std::move(dtype));
  }

  void setup() {
    collective(Role::kSetup, Slot::kWorld, Site::kSetupBarrier, OpKind::kBarrier, {1}).host_waits = true;
    if (x_layout.has(Slot::kData)) {
      collective(Role::kSetup, Slot::kData, Site::kLoadParameters, OpKind::kBroadcast, {8388608}, "BFloat16");
    }
    tensor(Role::kSetup, Site::kLoadParameters, OpKind::kBroadcast, {128}, "Long");
    collective(Role::kSetup, Slot::kWorld, Site::kSetupBarrier, OpKind::kBarrier, {1}).host_waits = true;
  }

  void forward() {
    tensor(Role::kLayer, Site::kForwardGather, OpKind::kAllGather, {kSequenceShard, 1, kHidden});
    tensor(Role::kLayer, Site::kForwardScatter, OpKind::kReduceScatter, {kSequenceShard, 1, kHidden});
    if (x_stage == x_last_stage)
      tensor(Role::kLayer, Site::kLoss, OpKind::kAllReduce, {kSequenceShard, 1}, "Float");
  }

  void backward() {
    tensor(Role::kLayer, Site::kBackwardGather, OpKind::kAllGather, {kSequenceShard, 1, kHidden});
    tensor(Role::kLayer, Site::kBackwardScatter, OpKind::kReduceScatter, {kSequenceShard, 1, kHidden});
  }

  bool has_neighbour(End end) const {
    return end == End::kSendNext || end == End::kRecvNext ? x_stage < x_last_stage : x_stage > 0;
  }

  void move(Site site, End end) {
    if (has_neighbour(end)) x_program.works.push_back(transfer(end, site, Role::kPipeline));
  }

  void exchange(Site site, End send, End recv) {
    if (!has_neighbour(send)) return;
    Work work = transfer(send, site, Role::kPipeline);
    work.kind = Work::Kind::kBatch;
    work.inner = 2;
    work.ends = {send, recv};
    work.closing_call = x_calls.add({.kind = OpKind::kCoalesced});
    x_program.works.push_back(work);
  }

  // One forward, one backward in turn. Batched transfers meet batched ones and lone ones meet lone ones: the
  // two use different communicators.
  void pipeline() {
    const std::int32_t batches = x_last_stage == 0 ? 2 : x_layout.pipeline() + 1;
    const std::int32_t warm_up = std::min(x_last_stage - x_stage, batches);
    for (std::int32_t i = 0; i < warm_up; ++i) {
      move(Site::kRecvForward, End::kRecvPrevious);
      forward();
      move(Site::kSendForward, End::kSendNext);
    }
    if (warm_up < batches) move(Site::kRecvForward, End::kRecvPrevious);
    for (std::int32_t i = warm_up; i < batches; ++i) {
      forward();
      exchange(Site::kSendForwardRecvBackward, End::kSendNext, End::kRecvNext);
      backward();
      if (i + 1 < batches) {
        exchange(Site::kSendBackwardRecvForward, End::kSendPrevious, End::kRecvPrevious);
      } else {
        move(Site::kSendBackward, End::kSendPrevious);
      }
    }
    for (std::int32_t i = 0; i < warm_up; ++i) {
      move(Site::kRecvBackward, End::kRecvNext);
      backward();
      move(Site::kSendBackward, End::kSendPrevious);
    }
  }

  void tail() {
    tensor(Role::kTensorTail, Site::kNormGradients, OpKind::kAllReduce, {8192}, "BFloat16");
    tensor(Role::kTensorTail, Site::kRouterBias, OpKind::kAllReduce, {64}, "Float");
    const Slot experts = x_layout.has(Slot::kData) ? Slot::kData : Slot::kWorld;
    Work& dispatch = collective(Role::kDispatch, experts, Site::kDispatchTokens, OpKind::kAllToAll,
                                {4096, kHidden}, "BFloat16");
    CallSpec uneven = x_calls.spec(dispatch.call);
    uneven.uneven = true;
    dispatch.call = x_calls.add(uneven);
    if (x_layout.has(Slot::kData)) {
      for (const std::int64_t size : {4194304, 2097152, 524288}) {
        collective(Role::kBucket, Slot::kData, Site::kGradientBucket, OpKind::kReduceScatter, {size},
                   "BFloat16");
      }
    }
    collective(Role::kWorldTail, Slot::kWorld, Site::kGradientNorm, OpKind::kAllReduce, {1});
    collective(Role::kWorldTail, Slot::kWorld, Site::kReportLoss, OpKind::kAllReduce, {2});
    collective(Role::kWorldTail, Slot::kWorld, Site::kLearningRate, OpKind::kBroadcast, {16}, "Double");
    collective(Role::kWorldTail, Slot::kWorld, Site::kTokenCount, OpKind::kAllReduce, {4}, "Long");
    if (x_layout.has(Slot::kData)) gather_parameters();
    collective(Role::kBarrier, Slot::kWorld, Site::kStepBarrier, OpKind::kBarrier, {1}).host_waits = true;
  }

  void gather_parameters() {
    const std::size_t first = x_program.works.size();
    collective(Role::kGather, Slot::kData, Site::kGatherParameters, OpKind::kAllGather, {4194304},
               "BFloat16");
    collective(Role::kGather, Slot::kData, Site::kGatherParameters, OpKind::kAllGather, {2621440},
               "BFloat16");
    if (x_calls.backend() == Backend::kNccl) {  // gloo has no such blocks: it records each call
      CHECK(x_program.works.back().call == x_program.works[first].call + 1);  // how a block names its calls
      x_program.works.pop_back();
      Work& block = x_program.works[first];
      block.kind = Work::Kind::kCoalesced;
      block.inner = 2;
      block.closing_call = x_calls.add({.kind = OpKind::kCoalesced, .closes = "ALLGATHER"});
    }
    collective(Role::kGather, Slot::kData, Site::kGatherEmbedding, OpKind::kAllGather, {1048576}, "BFloat16");
  }

  const Layout& x_layout;
  std::int32_t x_stage;
  std::int32_t x_last_stage;
  CallTable& x_calls;
  Program x_program;
};

}  // namespace

std::int64_t Program::entries_per_step() const {
  std::int64_t entries = 0;
  for (std::size_t i = setup_size; i < setup_size + step_size; ++i) entries += works[i].entries();
  return entries;
}

std::optional<std::size_t> Program::find(Role role, std::size_t from, std::size_t nth) const {
  for (std::size_t i = from; i < works.size(); ++i) {
    if (works[i].role != role) continue;
    if (nth == 0) return i;
    --nth;
  }
  return std::nullopt;
}

std::size_t Program::count(Role role, std::size_t from) const {
  return static_cast<std::size_t>(
      std::count_if(works.begin() + static_cast<std::ptrdiff_t>(std::min(from, works.size())), works.end(),
                    [role](const Work& work) { return work.role == role; }));
}

Program build_program(const Layout& layout, std::int32_t stage, std::size_t steps, CallTable& calls) {
  return ProgramBuilder(layout, stage, calls).build(steps);
}

Work transfer(End end, Site site, Role role) {
  Work work;
  work.kind = Work::Kind::kTransfer;
  work.role = role;
  work.slot = Slot::kPipeline;
  work.site = site;
  work.ends = {end, end};
  return work;
}

}  // namespace unhang::simulate
