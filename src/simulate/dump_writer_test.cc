// SPDX-License-Identifier: Apache-2.0
#include "simulate/dump_writer.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace unhang::simulate {
namespace {

using namespace std::string_literals;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The dump of `rank` that tests/corpus/fr_gen_w2 holds, described again (its README says how the files were
// made).
RecordedDump fr_gen_dump(int rank) {
  constexpr int kEntries = 46;
  constexpr int kFrames = 4;
  constexpr int kStacks = 40;
  RecordedDump dump;
  dump.comm_lib_version = "2.27.5";
  dump.groups = {{0, "0", "default_pg"}, {1, "1", "tp"}, {2, rank == 0 ? "2" : "3", "dp"}};
  dump.config = {{"0", "default_pg", {0, 1}}, {"1", "tp", {0, 1}}, {dump.groups[2].name, "dp", {rank}}};
  for (int i = 0; i < kStacks; ++i) {
    dump.stacks.emplace_back();
    for (int j = 0; j < kFrames; ++j) {
      dump.stacks.back().push_back(static_cast<std::uint32_t>(dump.frames.size()));
      dump.frames.push_back({"fn_" + std::to_string(i) + "_" + std::to_string(j),
                             "/opt/train/module_" + std::to_string(j) + ".py", 10 * i + j});
    }
  }
  std::array<std::int64_t, 3> sequence = {};
  const int last = kEntries - 1;  // divisible by three: an operation of the world
  for (int i = 0; i <= last; ++i) {
    const std::size_t group = static_cast<std::size_t>(i) % 3;
    const std::int64_t members = group == 2 ? 1 : 2;
    RecordedCall call;
    switch ((i / 3) % 4) {
      case 0:
        call = {"nccl:all_reduce", {{4096}}, {}, {{4096}}, {}};
        break;
      case 1:
        call = {"nccl:_all_gather_base", {{1024}}, {}, {{1024 * members}}, {}};
        break;
      case 2:
        call = {"nccl:_reduce_scatter_base", {{1024 * members}}, {}, {{1024}}, {}};
        break;
      default:
        call = {"nccl:broadcast", {{512, 512}}, {}, {{512, 512}}, {}};
        break;
    }
    if (i == last && rank == 1) call.input_sizes = call.output_sizes = {{7}};
    call.input_dtypes = call.output_dtypes = {"Float"};
    RecordedEntry entry;
    entry.stack = i % kStacks;
    entry.group = static_cast<std::uint32_t>(group);
    entry.call = static_cast<std::uint32_t>(dump.calls.size());
    entry.state = i == last ? RecordedState::kScheduled : RecordedState::kCompleted;
    entry.retired = i != last;
    entry.record_id = i;
    entry.collective_sequence = entry.op_id = ++sequence[group];
    entry.created_ns = 1795960000000000000 + i * 3000000 + rank * 1000;
    entry.completed_ns = i == last ? 0 : entry.created_ns + 900000;
    dump.calls.push_back(call);
    dump.entries.push_back(entry);
  }
  for (std::int64_t group = 0; group < 3; ++group) {
    const std::int64_t enqueued = sequence[static_cast<std::size_t>(group)];
    dump.status.push_back({group, enqueued, -1, group == 0 ? enqueued - 1 : enqueued});
  }
  return dump;
}

TEST(PickleWriter, WritesTheSameBytesAsTheReferenceWriter) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::string expected =
        read_file(UNHANG_SOURCE_DIR "/tests/corpus/fr_gen_w2/nccl_trace_rank_" + std::to_string(rank));
    ASSERT_GT(expected.size(), 10000U);
    EXPECT_TRUE(write_pickle(fr_gen_dump(rank)) == expected) << "rank " << rank;
  }
}

TEST(PickleWriter, WritesTheEmptyDumpWithMarksAndTheRootInTheMemo) {
  RecordedDump dump;
  dump.version = "2";
  EXPECT_EQ(write_pickle(dump),
            "\x80\x02}("
            "X\7\0\0\0version"
            "q\0"
            "X\1\0\0\0002"
            "q\1"
            "X\x9\0\0\0pg_config"
            "q\2"
            "}(u"
            "X\x10\0\0\0comm_lib_version"
            "q\3"
            "X\0\0\0\0"
            "q\4"
            "X\x9\0\0\0pg_status"
            "q\5"
            "}(u"
            "X\7\0\0\0entries"
            "q\6"
            "](eu"
            "q\7."s);
}

TEST(PickleWriter, ChoosesTheSmallestIntegerForm) {
  const auto written = [](std::int64_t value) {
    RecordedDump dump;
    dump.status = {{0, value, 0, 0}};
    const std::string bytes = write_pickle(dump);
    const std::size_t at = bytes.find("last_enqueued_collective") + 24 + 2;  // behind the text and its BINPUT
    return bytes.substr(at, bytes.find("X\x17", at) - at);
  };
  EXPECT_EQ(written(0), "K\0"s);
  EXPECT_EQ(written(255), "K\xff"s);
  EXPECT_EQ(written(256), "M\0\1"s);
  EXPECT_EQ(written(65535), "M\xff\xff"s);
  EXPECT_EQ(written(65536), "J\0\0\1\0"s);
  EXPECT_EQ(written(-1), "J\xff\xff\xff\xff"s);
  EXPECT_EQ(written(2147483647), "J\xff\xff\xff\x7f"s);
  EXPECT_EQ(written(2147483648), "\x8a\x08\0\0\0\x80\0\0\0\0"s);
  EXPECT_EQ(written(-2147483649), "\x8a\x08\xff\xff\xff\x7f\xff\xff\xff\xff"s);
}

RecordedDump one_entry() {
  RecordedDump dump;
  dump.thread_id = "7";
  dump.groups = {{3, "9", "a \"b\"\n"}};
  dump.config = {{"9", "x", {4, 5}}, {"10", "y", {4}}};
  dump.status = {{3, 2, -1, 1}, {10, -1, -1, -1}};
  dump.calls = {{"nccl:send 0->1", {{2, 3}, {}}, {"Float", "Long"}, {{2, 3}}, {"Float"}, true}};
  RecordedEntry entry;
  entry.state = RecordedState::kCompleted;
  entry.retired = true;
  entry.record_id = 5;
  entry.collective_sequence = 1;
  entry.p2p_sequence = 2;
  entry.op_id = 3;
  entry.created_ns = 1795960000000000001;
  entry.started_ns = 0;
  entry.completed_ns = 1795960000000000002;
  entry.duration_ms = 1.5;
  dump.entries = {entry};
  return dump;
}

TEST(PickleWriter, WritesDurationsBigEndianAndOnlyWhereKnown) {
  RecordedDump dump = one_entry();
  const std::string with = write_pickle(dump);
  EXPECT_NE(with.find("G\x3f\xf8\0\0\0\0\0\0"s), std::string::npos);
  dump.entries[0].duration_ms = RecordedEntry::kNoDuration;
  EXPECT_EQ(write_pickle(dump).find("duration_ms"), std::string::npos);
}

TEST(PickleWriter, LeavesFramesOutWithoutStacksAndMemoisesOnlySharedFrames) {
  RecordedDump dump = one_entry();
  EXPECT_EQ(write_pickle(dump).find("frames"), std::string::npos);
  dump.frames = {{"shared", "a.py", 1}, {"alone", "a.py", 2}};
  dump.stacks = {{0, 1}, {0}};
  dump.entries.push_back(dump.entries[0]);
  dump.entries[0].stack = 0;
  dump.entries[1].stack = 1;
  const std::string bytes = write_pickle(dump);
  EXPECT_EQ(bytes.find("shared"), bytes.rfind("shared"));
  const std::size_t first = bytes.find("K\1uq");  // the shared one: line 1, SETITEMS, BINPUT
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(bytes.find("K\2ue"), std::string::npos);  // the other: SETITEMS, and the list ends
  const char memo = bytes[first + 4];
  EXPECT_NE(bytes.find("](h"s + memo + 'e', first), std::string::npos);
}

TEST(JsonWriter, SortsKeysAndFollowsTheVariantOfTheForm) {
  EXPECT_EQ(
      write_json(one_entry()),
      R"({"comm_lib_version":"","entries":[{"collective_seq_id":1,"duration_ms":1.5,)"
      R"("input_dtypes":["Float","Long"],"input_sizes":[[2,3],[]],"is_p2p":true,"op_id":3,)"
      R"("output_dtypes":["Float"],"output_sizes":[[2,3]],"p2p_seq_id":2,"pg_id":3,)"
      R"("process_group":["9","a \"b\"\n"],"profiling_name":"nccl:send 0->1","record_id":5,"retired":true,)"
      R"("state":"completed","thread_id":"7","thread_name":"python3","time_created_ns":1795960000000000001,)"
      R"("time_discovered_completed_ns":1795960000000000002,"time_discovered_started_ns":0,"timeout_ms":600000}],)"
      R"("nccl_comm_state":{},"pg_config":{"10":{"desc":"y","name":"10","ranks":"[4]"},)"
      R"("9":{"desc":"x","name":"9","ranks":"[4, 5]"}},)"
      R"("pg_status":{"10":{"last_completed_collective":"-1","last_enqueued_collective":"-1",)"
      R"("last_started_collective":"-1"},"3":{"last_completed_collective":"1","last_enqueued_collective":"2",)"
      R"("last_started_collective":"-1"}},"version":"2.10"})");
}

TEST(JsonWriter, HasNoEntriesKeyWithoutEntries) {
  EXPECT_EQ(write_json(RecordedDump{}),
            R"({"comm_lib_version":"","nccl_comm_state":{},"pg_config":{},"pg_status":{},"version":"2.10"})");
}

}  // namespace
}  // namespace unhang::simulate
