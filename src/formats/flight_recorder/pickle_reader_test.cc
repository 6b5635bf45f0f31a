// SPDX-License-Identifier: Apache-2.0
//
// Opcodes one by one, the memo, and what is refused.
#include <gtest/gtest.h>

#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/sample_dump_for_tests.h"

namespace unhang::formats::flight_recorder {
namespace {

using Assembler = PickleAssembler;

// A dump with one entry, whose value under `key` the caller writes.
template <class Write>
Evidence entry_with(const char* key, Write&& write) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark().dict().mark();
  a.text("record_id").int1(1).text(key);
  write(a);
  a.set_items().appends().set_items().stop();
  Evidence evidence = read_evidence("d_0", a.bytes());
  EXPECT_EQ(problem_codes(evidence), "") << key;
  EXPECT_EQ(evidence.dumps.at(0).operations.size(), 1u) << key;
  return evidence;
}

template <class Write>
std::int64_t op_id(Write&& write) {
  return entry_with("op_id", write).dumps.at(0).operations.at(0).op_id;
}

template <class Write>
std::string name(Write&& write) {
  const Evidence evidence = entry_with("profiling_name", write);
  const model::Dump& dump = evidence.dumps.at(0);
  return std::string(
      dump.vocabulary.text(dump.vocabulary.signature(dump.operations.at(0).signature).profiling_name));
}

template <class Write>
std::string shapes(Write&& write) {
  const Evidence evidence = entry_with("input_sizes", write);
  const model::Dump& dump = evidence.dumps.at(0);
  const auto& signature = dump.vocabulary.signature(dump.operations.at(0).signature);
  return model::shapes_text(dump.vocabulary.shapes.encoded(signature.input_shapes));
}

TEST(PickleOpcodes, Integers) {
  EXPECT_EQ(op_id([](Assembler& a) { a.int1(255); }), 255);
  EXPECT_EQ(op_id([](Assembler& a) { a.int2(65535); }), 65535);
  EXPECT_EQ(op_id([](Assembler& a) { a.int4(-5); }), -5);
  EXPECT_EQ(op_id([](Assembler& a) { a.int4(2147483647); }), 2147483647);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(1'700'000'000'123'456'789); }), 1'700'000'000'123'456'789);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(-2); }), -2);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(0, 0); }), 0);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(-3, 1); }), -3);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(40000, 3); }), 40000);
  EXPECT_EQ(op_id([](Assembler& a) { a.long4(-70000, 3); }), -70000);
  EXPECT_EQ(op_id([](Assembler& a) { a.long1(5, 9); }), -1);  // beyond 64 bits: as if not recorded
  EXPECT_EQ(op_id([](Assembler& a) { a.none(); }), -1);
  EXPECT_EQ(op_id([](Assembler& a) { a.text("7"); }), -1);
}

TEST(PickleOpcodes, FloatsAreBigEndian) {
  const Evidence evidence = entry_with("duration_ms", [](Assembler& a) { a.real(0.1015625); });
  EXPECT_FLOAT_EQ(evidence.dumps.at(0).operations.at(0).duration_ms, 0.1015625F);
}

TEST(PickleOpcodes, Booleans) {
  for (const bool value : {true, false}) {
    const Evidence evidence = entry_with("retired", [&](Assembler& a) { a.truth(value); });
    EXPECT_EQ(evidence.dumps.at(0).operations.at(0).has(model::Operation::kRetired), value);
  }
}

TEST(PickleOpcodes, Strings) {
  EXPECT_EQ(name([](Assembler& a) { a.text("nccl:barrier"); }), "nccl:barrier");
  EXPECT_EQ(name([](Assembler& a) { a.short_text("gloo:barrier"); }), "gloo:barrier");
  EXPECT_EQ(name([](Assembler& a) { a.text8("x"); }), "x");
  EXPECT_EQ(name([](Assembler& a) { a.text(""); }), "");
  EXPECT_EQ(name([](Assembler& a) { a.data("bytes"); }), "");  // bytes are no text
  EXPECT_EQ(name([](Assembler& a) { a.short_data("bytes"); }), "");
  EXPECT_EQ(name([](Assembler& a) { a.data8("bytes"); }), "");
}

TEST(PickleOpcodes, ListsAndTuples) {
  EXPECT_EQ(shapes([](Assembler& a) { a.list().mark().list().mark().int1(8).appends().appends(); }), "[[8]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.list().list().int1(8).append().append(); }), "[[8]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.list().mark().list().mark().appends().appends(); }), "[[]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.list().mark().empty_tuple().appends(); }), "[[]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.int1(8).tuple1().int1(2).int1(3).tuple2().tuple2(); }),
            "[[8],[2,3]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.int1(1).int1(2).int1(3).tuple3().tuple1(); }), "[[1,2,3]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.mark().mark().int1(1).int1(2).int1(3).int1(4).tuple().tuple(); }),
            "[[1,2,3,4]]");
  EXPECT_EQ(shapes([](Assembler& a) { a.mark().tuple(); }), "[]");
}

TEST(PickleOpcodes, SingleItemsOfDictionaries) {
  Assembler a;
  a.proto(4)
      .frame(99)
      .dict()
      .text("entries")
      .list()
      .dict()
      .mark()
      .text("record_id")
      .int1(3)
      .text("op_id")
      .int1(4);
  a.set_items().append().set_item().stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  EXPECT_EQ(problem_codes(evidence), "");
  EXPECT_EQ(evidence.dumps.at(0).operations.at(0).op_id, 4);
}

// A frame is written in full once, memoised when complete, and named afterwards.
TEST(PickleMemo, SharedFrames) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  for (int i = 0; i < 300; ++i) {
    a.dict().mark().text("frames").list().mark();
    if (i == 0) {
      a.dict()
          .mark()
          .text("name")
          .text("f")
          .text("filename")
          .text("a.py")
          .text("line")
          .int1(9)
          .set_items()
          .put(200);
      a.dict()
          .mark()
          .text("name")
          .text("g")
          .text("filename")
          .text("b.py")
          .text("line")
          .int2(999)
          .set_items()
          .long_put(70000);
    } else {
      a.get(200).long_get(70000);
    }
    a.appends().text("record_id").int2(static_cast<std::uint16_t>(i)).set_items();
  }
  a.appends().set_items().put(0).stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  EXPECT_EQ(problem_codes(evidence), "");
  const model::Dump& dump = evidence.dumps.at(0);
  ASSERT_EQ(dump.operations.size(), 300u);
  for (const auto& op : dump.operations) EXPECT_EQ(stack_text(dump, op), " f@a.py:9 g@b.py:999");
}

// What the memo holds grows while something else is open: the parts must not be lost or mixed.
TEST(PickleMemo, ListExtendedWhileAnotherIsOpen) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  // The list in slot 1 begins inside the first entry and grows inside the second.
  a.dict()
      .mark()
      .text("record_id")
      .int1(1)
      .text("input_sizes")
      .list()
      .mark()
      .list()
      .put(1)
      .mark()
      .int1(8)
      .appends()
      .appends();
  a.set_items();
  a.dict().mark().text("record_id").int1(2).text("output_sizes").list().mark().list().mark().int1(5);
  a.get(1).mark().int1(9).int1(10).int1(11).int1(12).appends().tuple1();  // an odd element: read over
  a.appends().appends().text("input_sizes").list().mark().get(1).appends().set_items();
  a.appends().set_items().stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  const model::Dump& dump = evidence.dumps.at(0);
  ASSERT_EQ(dump.operations.size(), 2u);
  const auto in = [&](int i) {
    const auto& signature = dump.vocabulary.signature(dump.operations[static_cast<std::size_t>(i)].signature);
    return model::shapes_text(dump.vocabulary.shapes.encoded(signature.input_shapes));
  };
  EXPECT_EQ(in(0), "[[8]]");
  EXPECT_EQ(in(1), "[[8,9,10,11,12]]");
}

// An old dictionary, named by the memo, is completed while a younger list is still open below it on the
// stack.
TEST(PickleMemo, OldDictionaryCompletedAboveAYoungerList) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  a.dict().put(1);  // an entry, still empty
  a.dict().mark().text("input_dtypes").list().mark().text("A").text("B").text("C").text("D");
  a.get(1).mark().text("record_id").int1(1).text("input_sizes").list().mark().list().mark();
  for (int i = 0; i < 40; ++i) a.long1(std::int64_t{1} << 40);
  a.appends().appends().set_items();  // the old entry is complete: what is open must survive
  a.list().mark().long1(std::int64_t{1} << 41).long1(std::int64_t{1} << 42).appends();
  a.appends().text("record_id").int1(2).set_items();
  a.appends().set_items().stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  const model::Dump& dump = evidence.dumps.at(0);
  ASSERT_EQ(dump.operations.size(), 2u);
  EXPECT_EQ(dump.operations[0].record_id, 1);
  EXPECT_EQ(dump.operations[1].record_id, 2);
  // Its list of types held other things at the end, so it says nothing; above all it is not somebody else's.
  EXPECT_EQ(dump.vocabulary.text(dump.vocabulary.signature(dump.operations[1].signature).input_dtypes), "");
}

TEST(PickleMemo, OldDictionaryCompletedAboveYoungerStrings) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark().dict().put(1);
  a.dict().mark().text("input_dtypes").list();
  a.mark().text("Float").text("Half").appends();
  a.get(1).mark().text("record_id").int1(1).set_items();
  a.put(2);  // keeps the pair even: key slot 1, value next
  a.list().mark().list().mark().int1(1).int1(2).int1(3).appends().appends();
  a.text("record_id").int1(2).set_items();
  a.appends().set_items().stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  const model::Dump& dump = evidence.dumps.at(0);
  ASSERT_EQ(dump.operations.size(), 2u);
  EXPECT_EQ(dump.vocabulary.text(dump.vocabulary.signature(dump.operations[1].signature).input_dtypes),
            "Float,Half");
}

TEST(PickleMemo, ContainersInThemselves) {
  Assembler a;
  a.proto(2).list().put(0).mark().get(0).get(0).appends();
  a.get(0).get(0).append().dict().put(1).mark().get(1).get(1).set_items().stop();
  EXPECT_TRUE(read_evidence("d_0", a.bytes()).dumps.empty());
}

// A few bytes that name a long text again and again must not fill the memory.
TEST(PickleMemo, LongTextsComposedAgainAndAgain) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  a.dict()
      .mark()
      .text("record_id")
      .put(0)
      .int1(0)
      .text("profiling_name")
      .put(1)
      .text(std::string(kMaxString, 'x'))
      .put(2);
  a.text("input_dtypes").put(3).none().set_items();
  constexpr int kEntries = 100;  // each would keep 4 MiB
  for (int i = 0; i < kEntries; ++i) {
    a.dict()
        .mark()
        .get(0)
        .int1(1)
        .get(1)
        .none()
        .get(3)
        .list()
        .mark()
        .get(2)
        .text(std::to_string(i))
        .put(4)
        .appends();
    a.set_items();
  }
  const Evidence evidence = read_evidence("d_0", a.appends().set_items().stop().bytes());
  EXPECT_EQ(problem_codes(evidence), "unexpected_values");
  const model::Dump& dump = evidence.dumps.at(0);
  ASSERT_EQ(dump.operations.size(), kEntries + 1u);
  std::size_t kept = 0;
  for (model::SymbolId id = 0; id < dump.vocabulary.symbols.size(); ++id)
    kept += dump.vocabulary.text(id).size();
  EXPECT_LE(kept, kMaxComposed + 3 * kMaxString);
}

TEST(PickleMemo, LongShapesComposedAgainAndAgain) {
  Assembler a;
  a.proto(2).dict().mark().text("entries").list().mark();
  a.dict().mark().text("record_id").put(0).int1(0).text("input_sizes").put(1).list().mark().list().mark();
  for (int i = 0; i < 1 << 20; ++i) a.int1(1);
  a.appends().put(2).appends().set_items();
  constexpr int kEntries = 60;  // each would keep 8 MiB
  for (int i = 0; i < kEntries; ++i) {
    a.dict()
        .mark()
        .get(0)
        .int1(1)
        .get(1)
        .list()
        .mark()
        .get(2)
        .int1(static_cast<std::uint8_t>(i))
        .tuple1()
        .appends();
    a.set_items();
  }
  const Evidence evidence = read_evidence("d_0", a.appends().set_items().stop().bytes());
  EXPECT_EQ(problem_codes(evidence), "unexpected_values");
  const model::Dump& dump = evidence.dumps.at(0);
  std::size_t kept = 0;
  for (model::ShapesId id = 0; id < dump.vocabulary.shapes.size(); ++id)
    kept += dump.vocabulary.shapes.encoded(id).size_bytes();
  EXPECT_LE(kept, kMaxComposed);
}

Evidence after_one_entry(const std::string& code) {
  Assembler a;
  a.proto(2).dict().mark().text("version").text("2.10").text("entries").list().mark();
  a.dict().mark().text("record_id").int1(1).set_items();
  return read_evidence("d_0", a.bytes() + code);
}

std::size_t begin_of_code() {
  const Evidence evidence = after_one_entry("");
  return static_cast<std::size_t>(evidence.problems.at(0).offset.value());
}

TEST(PickleRefuses, EverythingThatBuildsObjects) {
  const char* const codes[] = {"cos\nsystem\n",
                               "R",
                               "b",
                               "iposix\nsystem\n",
                               "o",
                               "Pid\n",
                               "Q",
                               "\x81",
                               "\x82\x01",
                               "\x83\x01\x01",
                               "\x84\x01\x01\x01\x01",
                               "\x92",
                               "\x93"};
  for (const char* code : codes) {
    const Evidence evidence = after_one_entry(code);
    ASSERT_EQ(problem_codes(evidence), "refused_opcode") << code;
    EXPECT_EQ(evidence.problems[0].offset, begin_of_code()) << code;
    EXPECT_EQ(evidence.problems[0].severity, model::Severity::kDataLoss);
    ASSERT_EQ(evidence.dumps.size(), 1u);
    EXPECT_EQ(evidence.dumps[0].operations.size(), 1u);
    EXPECT_EQ(evidence.dumps[0].version, "2.10");
    EXPECT_FALSE(evidence.dumps[0].complete);
  }
}

TEST(PickleRefuses, WhatCannotBe) {
  const auto code_of = [](const Assembler& a) { return problem_codes(after_one_entry(a.bytes())); };
  EXPECT_EQ(code_of(Assembler().op(0xff)), "unknown_opcode");
  EXPECT_EQ(code_of(Assembler().op(0)), "unknown_opcode");
  EXPECT_EQ(code_of(Assembler().get(9)), "bad_memo");
  EXPECT_EQ(code_of(Assembler().long_get(4'000'000'000)), "bad_memo");
  EXPECT_EQ(code_of(Assembler().int1(1).long_put(4'000'000'000)), "too_large");
  EXPECT_EQ(code_of(Assembler().int1(1).long_put(static_cast<std::uint32_t>(kMaxMemo))), "too_large");
  EXPECT_EQ(code_of(Assembler().int1(1).put(5).get(4)), "bad_memo");  // between filled slots
  EXPECT_EQ(code_of(Assembler().proto(9)), "unknown_protocol");
  EXPECT_EQ(code_of(Assembler().op('X').number(4'000'000'000, 4).raw("abc")), "truncated");
  EXPECT_EQ(code_of(Assembler().op(0x8d).number(~0ULL, 8).raw("abc")), "truncated");
  EXPECT_EQ(code_of(Assembler().op(0x8b).number(4'000'000'000, 4).raw("abc")), "truncated");
}

TEST(PickleRefuses, NothingToWorkOn) {
  for (const char* code : {"e", "u", "t", "a", "s", "\x85", "\x86", "\x87", "q\x01", "\x94", "(e", "(u",
                           "K\x01"
                           "e"}) {
    const Evidence evidence = read_evidence("d_0", "\x80\x02" + std::string(code));
    EXPECT_EQ(problem_codes(evidence), "damaged") << code;
    EXPECT_TRUE(evidence.dumps.empty());
  }
}

TEST(PickleRefuses, DeepNesting) {
  Assembler inside;
  Assembler outside;
  inside.proto(2);
  for (int i = 0; i < static_cast<int>(kMaxDepth); ++i) inside.list().mark();
  for (int i = 0; i < static_cast<int>(kMaxDepth); ++i) inside.appends();
  EXPECT_EQ(problem_codes(read_evidence("d_0", inside.stop().bytes())), "foreign_pickle");
  outside.proto(2);
  for (int i = 0; i < 100000; ++i) outside.list().mark();
  EXPECT_EQ(problem_codes(read_evidence("d_0", outside.bytes())), "too_large");
}

TEST(PickleRefuses, MoreValuesThanTheStackHolds) {
  EXPECT_EQ(problem_codes(read_evidence("d_0", "\x80\x02" + std::string(kMaxStack + 1, 'N'))), "too_large");
  EXPECT_EQ(problem_codes(read_evidence("d_0", "\x80\x02" + std::string(kMaxStack, 'N'))), "truncated");
}

TEST(Pickle, LongStringsAreDroppedAndSaid) {
  Assembler a;
  a.proto(2)
      .dict()
      .mark()
      .text("version")
      .text(std::string(kMaxString + 1, 'v'))
      .text("entries")
      .list()
      .set_items()
      .stop();
  const Evidence evidence = read_evidence("d_0", a.bytes());
  EXPECT_EQ(problem_codes(evidence), "string_too_long");
  EXPECT_EQ(evidence.problems.at(0).bytes_lost, kMaxString + 1);
  EXPECT_EQ(evidence.dumps.at(0).version, "");
  EXPECT_TRUE(evidence.dumps.at(0).has_entries);
}

TEST(Pickle, TrailingBytesAndForeignPickles) {
  EXPECT_EQ(problem_codes(read_evidence("d", TorchPickler().write(sample_dump(1)) + "xyz")),
            "trailing_bytes");
  EXPECT_EQ(problem_codes(read_evidence("d", Assembler().proto(4).int1(1).stop().bytes())), "foreign_pickle");
  EXPECT_EQ(problem_codes(read_evidence("d", Assembler().proto(1).int1(1).stop().bytes())), "not_recognised");
}

}  // namespace
}  // namespace unhang::formats::flight_recorder
