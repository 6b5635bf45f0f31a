// SPDX-License-Identifier: Apache-2.0
#include "model/vocabulary.h"

#include <gtest/gtest.h>

#include "model/dump.h"

namespace unhang::model {
namespace {

struct Name {
  const char* text;
  OpKind kind;
};

// What PyTorch's backends call their operations (reference §3.1 to §3.3).
constexpr Name kNames[] = {
    {"gloo:all_reduce", OpKind::kAllReduce},
    {"gloo:broadcast", OpKind::kBroadcast},
    {"gloo:reduce", OpKind::kReduce},
    {"gloo:all_gather", OpKind::kAllGather},
    {"gloo:gather", OpKind::kGather},
    {"gloo:scatter", OpKind::kScatter},
    {"gloo:all_to_all", OpKind::kAllToAll},
    {"gloo:barrier", OpKind::kBarrier},
    {"gloo:sparse_all_reduce", OpKind::kAllReduce},
    {"nccl:all_reduce_barrier", OpKind::kBarrier},
    {"nccl:_broadcast_oop", OpKind::kBroadcast},
    {"nccl:_reduce_oop", OpKind::kReduce},
    {"nccl:_all_gather_base", OpKind::kAllGather},
    {"nccl:all_gather_into_tensor_coalesced", OpKind::kAllGather},
    {"nccl:reduce_scatter", OpKind::kReduceScatter},
    {"nccl:_reduce_scatter_base", OpKind::kReduceScatter},
    {"nccl:reduce_scatter_tensor_coalesced", OpKind::kReduceScatter},
    {"nccl:allreduce_coalesced", OpKind::kAllReduce},
    {"nccl:all_reduce_sparse", OpKind::kAllReduce},
    {"nccl:coalesced", OpKind::kCoalesced},
    {"nccl:ALLGATHER_coalesced", OpKind::kCoalesced},
    {"nccl:REDUCE_SCATTER_coalesced", OpKind::kCoalesced},
    {"nccl2:all_gather_single", OpKind::kAllGather},
    {"nccl2:all_gather_v", OpKind::kAllGather},
    {"nccl2:reduce_scatter_single", OpKind::kReduceScatter},
    {"nccl2:all_to_all_single", OpKind::kAllToAll},
    {"nccl2:all_to_all_v_single", OpKind::kAllToAll},
    {"nccl2:split", OpKind::kOther},
    {"nccl2:new_window", OpKind::kOther},
    {"c10d:allreduce", OpKind::kAllReduce},
    {"c10d:allgather", OpKind::kAllGather},
    {"c10d:send", OpKind::kSend},
    {"hccl:all_reduce", OpKind::kAllReduce},
    {"something:never seen before", OpKind::kOther},
};

TEST(ProfilingName, AllKnownNames) {
  for (const Name& name : kNames) {
    const ProfilingName split = split_profiling_name(name.text);
    EXPECT_EQ(split.kind, name.kind) << name.text;
    EXPECT_EQ(std::string(split.backend) + ':' + std::string(split.name), name.text);
    EXPECT_EQ(split.peer, -1) << name.text;
  }
}

TEST(ProfilingName, Transfers) {
  const ProfilingName send = split_profiling_name("nccl:send 0->1");
  EXPECT_EQ(send.backend, "nccl");
  EXPECT_EQ(send.name, "send");
  EXPECT_EQ(send.kind, OpKind::kSend);
  EXPECT_EQ(send.self, 0);
  EXPECT_EQ(send.peer, 1);
  // The left one is always the rank itself.
  const ProfilingName receive = split_profiling_name("nccl:recv 15<-8");
  EXPECT_EQ(receive.name, "recv");
  EXPECT_EQ(receive.kind, OpKind::kRecv);
  EXPECT_EQ(receive.self, 15);
  EXPECT_EQ(receive.peer, 8);
}

TEST(ProfilingName, OddTexts) {
  EXPECT_EQ(split_profiling_name("all_reduce").backend, "");
  EXPECT_EQ(split_profiling_name("all_reduce").kind, OpKind::kAllReduce);
  EXPECT_EQ(split_profiling_name("").kind, OpKind::kOther);
  EXPECT_EQ(split_profiling_name(":").name, "");
  for (const char* text : {"nccl:send 0->", "nccl:send ->1", "nccl:send a->b", "nccl:send -1->2",
                           "nccl:send 0->1x", "nccl:send 99999999999->1"}) {
    EXPECT_EQ(split_profiling_name(text).peer, -1) << text;
    EXPECT_EQ(split_profiling_name(text).self, -1) << text;
  }
}

TEST(Vocabulary, EmptyValuesHaveNumberZero) {
  Vocabulary v;
  EXPECT_EQ(v.intern(Signature{}), 0u);
  EXPECT_EQ(v.intern_stack({}), 0u);
  EXPECT_EQ(v.symbols.intern(""), 0u);
  EXPECT_EQ(v.shapes.intern({}), 0u);
}

Signature signature(Vocabulary& v, const char* text, std::int64_t elements) {
  const std::int64_t encoded[] = {1, elements};
  const ProfilingName split = split_profiling_name(text);
  return {.profiling_name = v.symbols.intern(text),
          .backend = v.symbols.intern(split.backend),
          .name = v.symbols.intern(split.name),
          .kind = split.kind,
          .self = split.self,
          .peer = split.peer,
          .input_shapes = v.shapes.intern(encoded),
          .output_shapes = v.shapes.intern(encoded),
          .input_dtypes = v.symbols.intern("Float"),
          .output_dtypes = v.symbols.intern("Half")};
}

StackId stack(Vocabulary& v, const char* inner, const char* outer) {
  const FrameId frames[] = {v.intern(Frame{v.symbols.intern(inner), v.symbols.intern("a.py"), 3}),
                            v.intern(Frame{v.symbols.intern(outer), v.symbols.intern("b.py"), 4})};
  return v.intern_stack(frames);
}

TEST(Vocabulary, EqualSignaturesShareANumber) {
  Vocabulary v;
  const auto one = v.intern(signature(v, "nccl:all_reduce", 8));
  EXPECT_EQ(v.intern(signature(v, "nccl:all_reduce", 8)), one);
  EXPECT_NE(v.intern(signature(v, "nccl:all_reduce", 9)), one);
  EXPECT_EQ(v.signature_count(), 3u);
}

TEST(Vocabulary, AbsorbedIdsNameTheSameValues) {
  Vocabulary ours;
  ours.intern(signature(ours, "gloo:barrier", 1));
  stack(ours, "x", "y");
  Vocabulary theirs;
  const auto send = theirs.intern(signature(theirs, "nccl:send 0->1", 64));
  const auto barrier = theirs.intern(signature(theirs, "gloo:barrier", 1));
  const auto their_stack = stack(theirs, "f", "x");
  const auto remap = ours.absorb(theirs);
  ASSERT_EQ(remap.symbols.size(), theirs.symbols.size());
  for (SymbolId id = 0; id < theirs.symbols.size(); ++id)
    EXPECT_EQ(ours.text(remap.symbols[id]), theirs.text(id));
  const Signature& s = ours.signature(remap.signatures[send]);
  EXPECT_EQ(ours.text(s.profiling_name), "nccl:send 0->1");
  EXPECT_EQ(ours.text(s.input_dtypes), "Float");
  EXPECT_EQ(ours.text(s.output_dtypes), "Half");
  EXPECT_EQ(shapes_text(ours.shapes.encoded(s.input_shapes)), "[[64]]");
  EXPECT_EQ(s.peer, 1);
  EXPECT_EQ(remap.signatures[barrier], 1u);  // known already
  const auto frames = ours.stack(remap.stacks[their_stack]);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(ours.text(ours.frame(frames[0]).function), "f");
  EXPECT_EQ(ours.text(ours.frame(frames[1]).function), "x");
  EXPECT_EQ(ours.text(ours.frame(frames[1]).file), "b.py");
  EXPECT_EQ(ours.frame(frames[1]).line, 4);
  const auto again = ours.absorb(theirs);
  EXPECT_EQ(again.signatures, remap.signatures);
  EXPECT_EQ(again.stacks, remap.stacks);
}

TEST(ParseRankList, Lists) {
  using Ranks = std::vector<std::int32_t>;
  EXPECT_EQ(parse_rank_list("[0, 1, 2]"), (Ranks{0, 1, 2}));
  EXPECT_EQ(parse_rank_list("[3,1]"), (Ranks{3, 1}));
  EXPECT_EQ(parse_rank_list("[]"), Ranks{});
  EXPECT_EQ(parse_rank_list("[2147483647]"), Ranks{2147483647});
}

TEST(ParseRankList, WhatIsNone) {
  for (const char* text : {"", "[", "]", "0, 1", "[0, 1", "[-1]", "[a]", "[0 x]", "[2147483648]", "[0.5]"}) {
    EXPECT_EQ(parse_rank_list(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace unhang::model
