// SPDX-License-Identifier: Apache-2.0
//
// Dumps that end early, and dumps with bytes changed at random: nothing may crash, and what stands before the
// damage counts.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "formats/flight_recorder/flight_recorder.h"
#include "formats/flight_recorder/sample_dump_for_tests.h"

namespace unhang::formats::flight_recorder {
namespace {

template <class Pickler>
void cut_everywhere() {
  Pickler pickler;
  const std::string whole = pickler.write(sample_dump(6));
  const std::vector<std::string> expected = operation_texts(read_evidence("d_0", whole).dumps.at(0));
  ASSERT_EQ(expected.size(), 6u);
  for (std::size_t cut = 2; cut < whole.size(); ++cut) {
    const Evidence evidence = read_evidence("d_0", whole.substr(0, cut));
    ASSERT_EQ(problem_codes(evidence), "truncated") << cut;
    const auto entries = std::count_if(pickler.entry_ends.begin(), pickler.entry_ends.end(),
                                       [&](std::size_t end) { return end <= cut; });
    if (evidence.dumps.empty()) {
      ASSERT_EQ(entries, 0) << cut;
      continue;
    }
    ASSERT_FALSE(evidence.dumps[0].complete) << cut;
    ASSERT_EQ(operation_texts(evidence.dumps[0]),
              std::vector<std::string>(expected.begin(), expected.begin() + entries))
        << cut;
    if (entries > 0) {
      ASSERT_EQ(evidence.dumps[0].version, "2.10") << cut;
      ASSERT_EQ(evidence.dumps[0].status.size(), 2u) << cut;
    }
  }
}

TEST(CutDump, TorchPickleKeepsTheWholeEntries) {
  cut_everywhere<TorchPickler>();
}

TEST(CutDump, PythonPickleKeepsTheWholeEntries) {
  Tree root = sample_dump(6);
  cut_everywhere<PythonPickler>();
}

TEST(CutDump, TooShortToTell) {
  EXPECT_EQ(problem_codes(read_evidence("d_0", "")), "empty");
  EXPECT_EQ(problem_codes(read_evidence("d_0", "\x80")), "not_recognised");
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(CutDump, RecordedDumpAtEveryByte) {
  const std::string whole =
      file_bytes(std::filesystem::path(UNHANG_SOURCE_DIR) / "tests/corpus/fr_gen_w2/nccl_trace_rank_0");
  const Evidence full = read_evidence("d_0", whole);
  ASSERT_EQ(problem_codes(full), "");
  ASSERT_FALSE(full.dumps.at(0).operations.empty());
  std::size_t before = 0;
  for (std::size_t cut = 2; cut < whole.size(); ++cut) {
    const Evidence evidence = read_evidence("d_0", whole.substr(0, cut));
    ASSERT_EQ(problem_codes(evidence), "truncated") << cut;
    const std::size_t now = evidence.dumps.empty() ? 0 : evidence.dumps[0].operations.size();
    ASSERT_TRUE(now == before || now == before + 1) << cut;
    before = now;
  }
  EXPECT_EQ(before, full.dumps[0].operations.size());
}

// Reads everything that was read, so that an id out of its table shows.
void touch(const Evidence& evidence) {
  for (const model::Dump& dump : evidence.dumps) {
    RC_ASSERT(!dump_text(dump).empty());
    for (const auto& op : dump.operations) RC_ASSERT(op.group < dump.groups.size());
  }
}

std::string mutate(std::string bytes) {
  const int changes = *rc::gen::inRange(1, 8);
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        bytes[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        bytes.erase(at, *rc::gen::inRange<std::size_t>(1, 20));
        break;
      case 2:
        bytes.insert(at, bytes.substr(*rc::gen::inRange<std::size_t>(0, bytes.size()), 30));
        break;
      default:
        bytes[at] = *rc::gen::elementOf(std::string("(]}eusath)q\x85\x86\x87\x94"));
        break;
    }
  }
  return bytes;
}

TEST(MutatedDump, NeverCrashes) {
  const std::string forms[] = {TorchPickler().write(sample_dump(4)), PythonPickler().write(sample_dump(4)),
                               JsonWriter().write(sample_dump(4, true))};
  for (const std::string& form : forms) {
    EXPECT_TRUE(rc::check("any change of bytes", [&] { touch(read_evidence("d_0", mutate(form))); }));
  }
}

// Any sequence of the opcodes that a dump may hold: most are nonsense, none may do harm.
TEST(MutatedDump, AnyOpcodes) {
  EXPECT_TRUE(rc::check("any opcodes", [] {
    PickleAssembler a;
    a.proto(2).dict().put(0).mark().text("entries").list().put(1).mark();
    const char* const keys[] = {
        "record_id", "frames",  "input_sizes", "input_dtypes", "process_group",
        "filename",  "entries", "ranks",       "pg_status",    "last_enqueued_collective"};
    const int count = *rc::gen::inRange(0, 200);
    for (int i = 0; i < count; ++i) {
      switch (*rc::gen::inRange(0, 16)) {
        case 0:
          a.dict();
          break;
        case 1:
          a.list();
          break;
        case 2:
        case 3:
          a.mark();
          break;
        case 4:
          a.set_items();
          break;
        case 5:
          a.appends();
          break;
        case 6:
          a.append();
          break;
        case 7:
          a.set_item();
          break;
        case 8:
          a.tuple2();
          break;
        case 9:
          a.put(static_cast<std::uint8_t>(*rc::gen::inRange(0, 6)));
          break;
        case 10:
        case 11:
          a.get(static_cast<std::uint8_t>(*rc::gen::inRange(0, 6)));
          break;
        case 12:
          a.long1(*rc::gen::arbitrary<std::int64_t>());
          break;
        case 13:
          a.memoize();
          break;
        default:
          a.text(*rc::gen::elementOf(std::vector<std::string>(std::begin(keys), std::end(keys))));
          break;
      }
    }
    touch(read_evidence("d_0", a.stop().bytes()));
  }));
}

}  // namespace
}  // namespace unhang::formats::flight_recorder
