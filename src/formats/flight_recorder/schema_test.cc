// SPDX-License-Identifier: Apache-2.0
//
// Every version of the schema, and every way in which the same dump is written.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/sample_dump_for_tests.h"

namespace unhang::formats::flight_recorder {
namespace {

using model::Operation;
using model::OpKind;
using model::OpState;

model::Dump read(const std::string& bytes) {
  Evidence evidence = read_evidence("dump_0", bytes);
  EXPECT_EQ(problem_codes(evidence), "");
  EXPECT_EQ(evidence.dumps.size(), 1u);
  return evidence.dumps.empty() ? model::Dump() : std::move(evidence.dumps.front());
}

std::string_view text(const model::Dump& dump, model::SymbolId id) {
  return dump.vocabulary.text(id);
}

TEST(Schema, EveryFieldOfVersion210) {
  const model::Dump dump = read(TorchPickler().write(sample_dump(6)));
  EXPECT_EQ(dump.version, "2.10");
  EXPECT_EQ(dump.comm_library_version, "2.27.5");
  EXPECT_TRUE(dump.has_entries);
  EXPECT_TRUE(dump.complete);
  EXPECT_FALSE(dump.is_json);
  ASSERT_EQ(dump.declared_groups.size(), 2u);
  EXPECT_EQ(text(dump, dump.declared_groups[1].name), "3");
  EXPECT_EQ(text(dump, dump.declared_groups[1].description), "pp");
  EXPECT_EQ(text(dump, dump.declared_groups[1].ranks_text), "[0, 2]");
  ASSERT_EQ(dump.status.size(), 2u);
  EXPECT_EQ(dump.status[0].pg_id, 0);
  EXPECT_EQ(dump.status[0].last_enqueued, 7);
  EXPECT_EQ(dump.status[0].last_started, -1);
  EXPECT_EQ(dump.status[0].last_completed, 4);
  EXPECT_EQ(dump.status[1].pg_id, 1);
  ASSERT_EQ(dump.operations.size(), 6u);

  const Operation& reduce = dump.operations[1];
  const auto& signature = dump.vocabulary.signature(reduce.signature);
  EXPECT_EQ(signature.kind, OpKind::kAllReduce);
  EXPECT_EQ(text(dump, signature.profiling_name), "nccl:all_reduce");
  EXPECT_EQ(text(dump, signature.backend), "nccl");
  EXPECT_EQ(model::shapes_text(dump.vocabulary.shapes.encoded(signature.input_shapes)), "[[8],[4,70000],[]]");
  EXPECT_EQ(text(dump, signature.input_dtypes), "Float,Long,Bool");
  EXPECT_EQ(text(dump, signature.output_dtypes), "Float");
  EXPECT_EQ(reduce.record_id, 1);
  EXPECT_EQ(reduce.collective_sequence, 1);
  EXPECT_EQ(reduce.op_id, 2);
  EXPECT_EQ(reduce.created_ns, 1'700'000'000'001'000'000);
  EXPECT_EQ(reduce.started_ns, 0);
  EXPECT_EQ(reduce.completed_ns, 1'700'000'000'001'005'000);
  EXPECT_FLOAT_EQ(reduce.duration_ms, 1.5F);
  EXPECT_EQ(reduce.timeout_ms, 600000u);
  EXPECT_EQ(reduce.state, OpState::kCompleted);
  EXPECT_TRUE(reduce.has(Operation::kRetired));
  EXPECT_FALSE(reduce.has(Operation::kP2p));
  EXPECT_EQ(stack_text(dump, reduce),
            " all_reduce@torch/distributed/distributed_c10d.py:3001 train@train.py:42");
  EXPECT_EQ(text(dump, dump.groups[reduce.group].description), "default_pg");

  const Operation& send = dump.operations[5];
  EXPECT_TRUE(send.has(Operation::kP2p));
  EXPECT_EQ(send.p2p_sequence, 5);
  EXPECT_EQ(send.state, OpState::kScheduled);
  EXPECT_EQ(send.completed_ns, 0);
  EXPECT_LT(send.duration_ms, 0);
  EXPECT_FALSE(send.has(Operation::kRetired));
  EXPECT_EQ(dump.vocabulary.signature(send.signature).self, 0);
  EXPECT_EQ(dump.vocabulary.signature(send.signature).peer, 1);
  EXPECT_EQ(dump.groups[send.group].pg_id, 1);
}

TEST(Schema, AllFormsOfOneDumpAreEqual) {
  const model::Dump torch = read(TorchPickler().write(sample_dump(7)));
  const model::Dump python = read(PythonPickler().write(sample_dump(7)));
  const model::Dump json = read(JsonWriter().write(sample_dump(7, true)));
  EXPECT_EQ(dump_text(torch), dump_text(python));
  EXPECT_EQ(dump_text(torch, false), dump_text(json, false));
  EXPECT_TRUE(json.is_json);
}

// Entries of all sorts in any order: the quick ways through a dump must read what the slow way reads.
TEST(Schema, AnyEntriesReadTheSameInAllForms) {
  const auto any_entry = [](int i) {
    const auto draw = [](int below) { return *rc::gen::inRange(0, below); };
    Tree::Items items;
    if (draw(4) != 0) {
      std::vector<Tree> frames;
      for (int k = draw(4); k > 0; --k) frames.push_back(frame("f", draw(2) ? "a.py" : "b.py", draw(3)));
      items.push_back({"frames", Tree::make_list(std::move(frames))});
    }
    items.push_back({"record_id", i});
    if (draw(3) != 0)
      items.push_back({"process_group", Tree::make_tuple({draw(2) ? "0" : "7", draw(2) ? "" : "x"})});
    if (draw(3) != 0)
      items.push_back({"new_key", draw(2) ? Tree("text") : Tree::make_list({Tree(1), Tree(2)})});
    items.push_back({"profiling_name", draw(2) ? "nccl:all_reduce" : draw(2) ? "nccl:send 0->1" : "odd"});
    if (draw(2)) items.push_back({"duration_ms", draw(2) ? Tree(1.5) : draw(2) ? Tree(2) : Tree()});
    for (const char* key : {"input_sizes", "output_sizes"}) {
      std::vector<std::vector<int>> tensors(static_cast<std::size_t>(draw(3)));
      for (auto& dims : tensors) dims.assign(static_cast<std::size_t>(draw(3)), draw(2) ? 5 : 70000);
      items.push_back({key, sizes(tensors)});
    }
    for (const char* key : {"input_dtypes", "output_dtypes"})
      items.push_back({key, texts(std::vector<std::string>(static_cast<std::size_t>(draw(3)),
                                                           draw(2) ? "Half" : "Int"))});
    for (const char* key : {"collective_seq_id", "p2p_seq_id", "op_id", "time_created_ns",
                            "time_discovered_completed_ns", "timeout_ms"}) {
      const Tree values[] = {Tree(), Tree(3), Tree(300), Tree(-4), Tree(std::int64_t{1} << 50)};
      items.push_back({key, values[draw(5)]});
    }
    for (const char* key : {"retired", "is_p2p"}) {
      if (draw(3) != 0) items.push_back({key, Tree(draw(2) == 1)});
    }
    items.push_back({"state", draw(2) ? "completed" : "scheduled"});
    return Tree::dict(std::move(items));
  };
  EXPECT_TRUE(rc::check("torch, Python and JSON agree", [&] {
    std::vector<Tree> entries;
    const int count = *rc::gen::inRange(1, 30);
    for (int i = 0; i < count; ++i) entries.push_back(any_entry(i));
    const Tree root = Tree::dict({{"version", "2.10"}, {"entries", Tree::make_list(std::move(entries))}});
    const model::Dump torch = read(TorchPickler().write(root));
    RC_ASSERT(torch.operations.size() == static_cast<std::size_t>(count));
    RC_ASSERT(dump_text(torch) == dump_text(read(PythonPickler().write(root))));
    RC_ASSERT(dump_text(torch, false) == dump_text(read(JsonWriter().write(root)), false));
  }));
}

// A slot that is filled again means something else from there on, though the bytes that name it are the same.
TEST(Schema, SlotsThatAreFilledAgain) {
  PickleAssembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  const auto entry = [&](int id) {
    a.dict()
        .mark()
        .get(0)
        .int1(static_cast<std::uint8_t>(id))
        .get(1)
        .get(2)
        .get(3)
        .list()
        .mark()
        .get(4)
        .appends();
    a.set_items();
  };
  a.dict().mark().text("record_id").put(0).int1(0).text("profiling_name").put(1).text("nccl:barrier").put(2);
  a.text("input_dtypes").put(3).list().mark().text("Half").put(4).appends().set_items();
  entry(1);
  entry(2);
  a.dict()
      .mark()
      .get(0)
      .int1(3)
      .get(1)
      .text("nccl:broadcast")
      .put(2)
      .get(3)
      .list()
      .mark()
      .text("Int")
      .put(4)
      .appends();
  a.set_items();
  entry(4);
  const model::Dump dump = read(a.appends().set_items().stop().bytes());
  ASSERT_EQ(dump.operations.size(), 5u);
  std::string seen;
  for (const auto& op : dump.operations) {
    const auto& signature = dump.vocabulary.signature(op.signature);
    seen +=
        std::string(text(dump, signature.name)) + '/' + std::string(text(dump, signature.input_dtypes)) + ' ';
  }
  EXPECT_EQ(seen, "barrier/Half barrier/Half barrier/Half broadcast/Int broadcast/Int ");
}

// Python's pickler writes lists of more than 1000 items in pieces.
TEST(Schema, PythonPicklesInBatches) {
  const model::Dump torch = read(TorchPickler().write(sample_dump(2501)));
  EXPECT_EQ(torch.operations.size(), 2501u);
  EXPECT_EQ(torch.operations.back().record_id, 2500);
  EXPECT_EQ(dump_text(torch), dump_text(read(PythonPickler().write(sample_dump(2501)))));
}

TEST(Schema, NoEntriesAndEmptyEntriesDiffer) {
  Tree without = sample_dump(0);
  without.items.pop_back();
  const model::Dump absent = read(TorchPickler().write(without));
  EXPECT_FALSE(absent.has_entries);
  EXPECT_EQ(absent.status.size(), 2u);
  const model::Dump empty = read(TorchPickler().write(sample_dump(0)));
  EXPECT_TRUE(empty.has_entries);
  EXPECT_TRUE(empty.operations.empty());
}

// The oldest form: a list of entries, nothing around it.
TEST(Schema, BareList) {
  const Tree entry = Tree::dict({{"pg_id", 1},
                                 {"seq_id", 9},
                                 {"profiling_name", "nccl:broadcast"},
                                 {"time_created_ns", std::int64_t{5'000'000'000}},
                                 {"input_sizes", sizes({{3}})},
                                 {"output_sizes", sizes({{3}})},
                                 {"state", "started"},
                                 {"frames", Tree::make_list({frame("f", "a.py", 1)})}});
  for (const std::string& bytes : {TorchPickler().write(Tree::make_list({entry, entry})),
                                   PythonPickler().write(Tree::make_list({entry, entry}))}) {
    const model::Dump dump = read(bytes);
    EXPECT_EQ(dump.version, "");
    EXPECT_TRUE(dump.has_entries);
    ASSERT_EQ(dump.operations.size(), 2u);
    EXPECT_EQ(dump.operations[0].collective_sequence, 9);
    EXPECT_EQ(dump.operations[0].record_id, -1);
    EXPECT_EQ(dump.operations[0].state, OpState::kStarted);
    EXPECT_EQ(dump.groups[dump.operations[0].group].pg_id, 1);
    EXPECT_EQ(stack_text(dump, dump.operations[0]), " f@a.py:1");
  }
}

TEST(Schema, Version11HasOneSequence) {
  const Tree entry = Tree::dict({{"pg_id", 0},
                                 {"seq_id", 4},
                                 {"profiling_name", "nccl:all_gather"},
                                 {"retired", true},
                                 {"duration_ms", 2.25},
                                 {"state", "completed"}});
  const model::Dump dump =
      read(TorchPickler().write(Tree::dict({{"entries", Tree::make_list({entry})}, {"version", "1.1"}})));
  EXPECT_EQ(dump.version, "1.1");
  ASSERT_EQ(dump.operations.size(), 1u);
  EXPECT_EQ(dump.operations[0].collective_sequence, 4);
  EXPECT_EQ(dump.operations[0].p2p_sequence, -1);
  EXPECT_FLOAT_EQ(dump.operations[0].duration_ms, 2.25F);
}

// Before is_p2p existed, the name tells, and the one sequence number is the transfer's.
TEST(Schema, TransfersOfVersion1) {
  const Tree entry = Tree::dict({{"pg_id", 0}, {"seq_id", 6}, {"profiling_name", "nccl:recv 1<-0"}});
  const model::Dump dump =
      read(TorchPickler().write(Tree::dict({{"entries", Tree::make_list({entry})}, {"version", "1.1"}})));
  ASSERT_EQ(dump.operations.size(), 1u);
  EXPECT_TRUE(dump.operations[0].has(Operation::kP2p));
  EXPECT_EQ(dump.operations[0].p2p_sequence, 6);
}

// pg_config without names: {process group id: [ranks]}.
TEST(Schema, Version14HasGroupsByNumber) {
  const Tree ranks = Tree::make_list({0, 1, 300});
  Tree::Items config;
  config.push_back({0, ranks});
  config.push_back({7, Tree::make_list({1, 300})});
  const Tree entry =
      Tree::dict({{"record_id", 3}, {"op_id", 12}, {"seq_id", 4}, {"profiling_name", "nccl:reduce"}});
  const Tree root = Tree::dict(
      {{"entries", Tree::make_list({entry})}, {"pg_config", Tree::dict(config)}, {"version", "1.4"}});
  for (const std::string& bytes : {TorchPickler().write(root), PythonPickler().write(root)}) {
    const model::Dump dump = read(bytes);
    ASSERT_EQ(dump.declared_groups.size(), 2u);
    EXPECT_EQ(text(dump, dump.declared_groups[0].name), "0");
    EXPECT_EQ(text(dump, dump.declared_groups[0].ranks_text), "[0, 1, 300]");
    EXPECT_EQ(text(dump, dump.declared_groups[1].name), "7");
    EXPECT_EQ(text(dump, dump.declared_groups[1].ranks_text), "[1, 300]");
    EXPECT_EQ(dump.operations.at(0).op_id, 12);
  }
}

TEST(Schema, Version20MayHavePlainGroupNames) {
  for (const Tree& group : {Tree("tp"), Tree::make_tuple({"tp", "TENSOR"}), texts({"tp", "TENSOR"})}) {
    const Tree entry =
        Tree::dict({{"record_id", 0}, {"process_group", group}, {"profiling_name", "nccl:all_reduce"}});
    const Tree root = Tree::dict({{"version", "2.0"}, {"entries", Tree::make_list({entry})}});
    for (const std::string& bytes : {TorchPickler().write(root), JsonWriter().write(root)}) {
      const model::Dump dump = read(bytes);
      ASSERT_EQ(dump.groups.size(), 1u);
      EXPECT_EQ(text(dump, dump.groups[0].name), "tp");
      EXPECT_EQ(text(dump, dump.groups[0].description), group.kind == Tree::Kind::kText ? "" : "TENSOR");
    }
  }
}

// 2.2 splits the sequence, 2.3 adds pg_status, 2.7 names the library's version "nccl_version".
TEST(Schema, Versions22To27) {
  const Tree entry = Tree::dict({{"record_id", 0},
                                 {"process_group", Tree::make_tuple({"0", "default_pg"})},
                                 {"collective_seq_id", 11},
                                 {"p2p_seq_id", 5},
                                 {"is_p2p", false},
                                 {"profiling_name", "nccl:all_reduce"}});
  const Tree list = Tree::make_list({entry});
  const model::Dump v22 = read(TorchPickler().write(Tree::dict({{"version", "2.2"}, {"entries", list}})));
  EXPECT_EQ(v22.operations.at(0).collective_sequence, 11);
  EXPECT_EQ(v22.operations.at(0).p2p_sequence, 5);
  EXPECT_TRUE(v22.status.empty());
  const model::Dump v27 = read(
      TorchPickler().write(Tree::dict({{"version", "2.7"}, {"nccl_version", "2.21.5"}, {"entries", list}})));
  EXPECT_EQ(v27.comm_library_version, "2.21.5");
}

TEST(Schema, RanksMayBeAList) {
  const Tree group = Tree::dict({{"name", "5"}, {"desc", "dp"}, {"ranks", Tree::make_list({4, 0})}});
  const Tree root = Tree::dict({{"version", "2.4"}, {"pg_config", Tree::dict({{"5", group}})}});
  for (const std::string& bytes : {TorchPickler().write(root), JsonWriter().write(root)}) {
    const model::Dump dump = read(bytes);
    ASSERT_EQ(dump.declared_groups.size(), 1u);
    EXPECT_EQ(text(dump, dump.declared_groups[0].ranks_text), "[4, 0]");
  }
}

TEST(Schema, UnknownKeysAreReadOver) {
  Tree root = sample_dump(2);
  root.items.insert(root.items.begin(),
                    {"nccl_comm_state", Tree::dict({{"0xabc", Tree::dict({{"rank", "0"}})}})});
  root.items.back().second.list[0].items.push_back(
      {"new_key", Tree::make_list({Tree::make_list({1, "x"}), Tree()})});
  EXPECT_EQ(dump_text(read(TorchPickler().write(root))),
            dump_text(read(TorchPickler().write(sample_dump(2)))));
}

TEST(Schema, BatchesAreMarked) {
  const auto entry = [](int id, const char* name, bool p2p, int seq, Tree tensors) {
    return Tree::dict({{"record_id", id},
                       {"process_group", Tree::make_tuple({"0", "default_pg"})},
                       {"collective_seq_id", p2p ? 0 : seq},
                       {"p2p_seq_id", p2p ? seq : 0},
                       {"profiling_name", name},
                       {"input_sizes", tensors},
                       {"output_sizes", tensors},
                       {"is_p2p", p2p}});
  };
  const Tree one = sizes({{4}});
  const Tree none = sizes({});
  const model::Dump dump = read(TorchPickler().write(Tree::dict(
      {{"version", "2.10"},
       {"entries", Tree::make_list(
                       {entry(0, "nccl:send 0->1", true, 1, one), entry(1, "nccl:recv 0<-1", true, 1, one),
                        entry(2, "nccl:coalesced", true, 1, none), entry(3, "nccl:all_reduce", false, 1, one),
                        entry(4, "nccl:_all_gather_base", false, 2, one),
                        entry(5, "nccl:ALLGATHER_coalesced", false, 2, none)})}})));
  std::vector<std::string> roles;
  for (const Operation& op : dump.operations)
    roles.push_back(op.has(Operation::kInner) ? "inner" : op.has(Operation::kClosing) ? "closing" : "single");
  EXPECT_EQ(roles, (std::vector<std::string>{"inner", "inner", "closing", "single", "inner", "closing"}));
}

}  // namespace
}  // namespace unhang::formats::flight_recorder
