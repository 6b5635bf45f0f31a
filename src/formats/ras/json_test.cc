// SPDX-License-Identifier: Apache-2.0
//
// The JSON form: what is read, what is mended, what is refused.
#include <algorithm>

#include <gtest/gtest.h>

#include "formats/ras/json_mending.h"
#include "formats/ras/sample_for_tests.h"

namespace unhang::formats::ras {
namespace {

using model::NcclResult;
using model::RasAnswer;
using model::RasCollective;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;

// An answer with these communicators.
std::string answer_of(const std::string& communicators) {
  return R"({"nccl_version":"2.30.7","cuda_runtime_version":12080,"timestamp":"2026-11-29 15:01:29","communicators":[)" +
         communicators + R"(],"ras":{"collection_time_sec":0.5,"timeouts_count":3}})";
}

std::string rank_of(int rank, const std::string& fields) {
  return "{\"rank\":" + std::to_string(rank) + (fields.empty() ? "" : ",") + fields + "}";
}

TEST(RasJson, AllFields) {
  const Evidence evidence = read_evidence("x", recorded("v2.30.7-1/fini-one-8.json"));
  EXPECT_EQ(evidence.kind, "nccl_ras_json");
  EXPECT_EQ(problem_codes(evidence), "");
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_TRUE(answer.is_json && answer.complete && !answer.corrupt);
  EXPECT_EQ(answer.nccl_version, "2.30.7");
  EXPECT_EQ(answer.cuda_runtime, "12080");
  EXPECT_EQ(answer.cuda_driver, "12080");
  EXPECT_EQ(answer.timestamp.size(), 19u);
  EXPECT_TRUE(answer.collection_seconds.has_value());
  ASSERT_EQ(answer.communicators.size(), 2u);
  EXPECT_EQ(answer.communicators[0].hash, 0x57410f0480f3a6b9u);
  EXPECT_EQ(answer.communicators[0].line, 9u);
  EXPECT_FALSE(answer.communicators[0].mismatch);
  const RasCommunicator& world = answer.communicators[1];
  EXPECT_EQ(world.size, 8);
  EXPECT_TRUE(world.mismatch);
  EXPECT_FALSE(world.incomplete || world.error);
  ASSERT_EQ(world.ranks.size(), 8u);
  EXPECT_EQ(world.ranks[2].presence, RasPresence::kNoCommunicator);
  EXPECT_EQ(world.ranks[2].status, RasStatus::kNoCommunicator);
  EXPECT_EQ(world.ranks[2].pid, 24401);
  EXPECT_EQ(world.ranks[3].host, "127.0.1.1");
  EXPECT_EQ(world.ranks[3].cuda_device, 3);
  EXPECT_EQ(world.ranks[3].init_state, NcclResult::kSuccess);
  EXPECT_EQ(counts(world, RasCollective::kAllReduce), "100 100 - 100 100 100 100 100");
  EXPECT_EQ(counts(world, RasCollective::kReduce), "0 0 - 0 0 0 0 0");
}

TEST(RasJson, DeadPeers) {
  const RasCommunicator communicator =
      one_communicator(recorded("v2.30.7-1/dead-then-continued-4-asked-2.json"));
  EXPECT_TRUE(communicator.incomplete);
  EXPECT_FALSE(communicator.mismatch);
  EXPECT_EQ(communicator.missing_ranks, 3u);
  EXPECT_EQ(communicator.ranks.at(0).presence, RasPresence::kDead);
  EXPECT_EQ(communicator.ranks.at(2).presence, RasPresence::kAnswered);
}

TEST(RasJson, TheForgottenCommaIsPutBack) {
  const Evidence evidence = read_evidence("x", recorded("v2.28.9-1/peer-query-stopped@7s.json"));
  EXPECT_EQ(problem_codes(evidence), "repaired");
  EXPECT_EQ(evidence.problems[0].severity, model::Severity::kInfo);
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_TRUE(answer.complete);
  const RasCommunicator& communicator = answer.communicators.at(0);
  ASSERT_EQ(communicator.ranks.size(), 2u);
  EXPECT_EQ(communicator.ranks[1].presence, RasPresence::kUnresponsive);
  EXPECT_EQ(communicator.ranks[1].pid, 2418);
}

TEST(RasJsonMending, Commas) {
  std::string json =
      "{\"nvml_dev\": 5\n \"status\": {}, \"nvml_dev\":-1 \"status\":1,\"nvml_dev\": 5,\n\"status\": 2}";
  EXPECT_EQ(add_missing_commas(json), 2u);
  EXPECT_EQ(
      json,
      "{\"nvml_dev\": 5, \"status\": {}, \"nvml_dev\":-1,\"status\":1,\"nvml_dev\": 5,\n\"status\": 2}");
  for (std::string untouched :
       {"\"nvml_dev\"", "\"nvml_dev\":", "\"nvml_dev\": 5", "\"nvml_dev\"\"status\"", ""}) {
    const std::string before = untouched;
    add_missing_commas(untouched);
    EXPECT_EQ(untouched.size(), before.size());
  }
}

TEST(RasJsonMending, OpenEnds) {
  const auto closed = [](std::string json) { return close_open_end(json) ? json : "unchanged"; };
  EXPECT_EQ(closed(R"({"a":1,"c":[{"h":1,"r":[{"x":1},{"y":2},{"z)"),
            R"({"a":1,"c":[{"h":1,"r":[{"x":1},{"y":2}]}]})");
  EXPECT_EQ(closed(R"({"a":1,"c":[{"h":1,"r":[{"d":[1,2)"), R"({"a":1,"c":[{"h":1,"r":[]}]})");
  EXPECT_EQ(closed(R"({"a":1,"c":[{"h":1},{"h)"), R"({"a":1,"c":[{"h":1}]})");
  EXPECT_EQ(closed(R"({"a":1,"b":22)"), R"({"a":1})");
  EXPECT_EQ(closed(R"({"a":"}]\"",)"), R"({"a":"}]\""})");
  EXPECT_EQ(closed(R"({"a":1})"), "unchanged");
  EXPECT_EQ(closed(R"({"a":1)"), "unchanged");
  EXPECT_EQ(closed(R"({"a":1]})"), "unchanged");
  EXPECT_EQ(closed(""), "unchanged");
}

TEST(RasJson, StatusesFollowFromTheFlags) {
  const RasCommunicator communicator = one_communicator(answer_of(
      R"({"hash":"0xab","size":7,"ranks":[)" +
      rank_of(0, R"("status":{"init_state":0,"finalize_called":true,"abort_flag":true})") + "," +
      rank_of(1, R"("status":{"init_state":0,"finalize_called":true})") + "," +
      rank_of(2, R"("status":{"init_state":7,"destroy_flag":true})") + "," +
      rank_of(3, R"("status":{"init_state":0})") + "," + rank_of(4, R"("status":{"init_state":7})") + "," +
      rank_of(5, R"("status":{"init_state":99})") + "," + rank_of(6, "") + "]}"));
  EXPECT_EQ(statuses(communicator), "ABORT FINALIZE FINALIZE RUNNING INIT INIT unknown");
  EXPECT_EQ(communicator.ranks[5].init_state, NcclResult::kOther);
  EXPECT_TRUE(communicator.error);
  EXPECT_TRUE(communicator.mismatch);
}

TEST(RasJson, InProgressIsNoError) {
  const RasCommunicator communicator =
      one_communicator(answer_of(R"({"hash":"0xab","size":1,"ranks":[)" +
                                 rank_of(0, R"("status":{"init_state":0,"async_error":7})") + "]}"));
  EXPECT_FALSE(communicator.error);
  EXPECT_TRUE(one_communicator(answer_of(R"({"hash":"0xab","size":1,"ranks":[)" +
                                         rank_of(0, R"("status":{"init_state":0,"async_error":8})") + "]}"))
                  .error);
}

TEST(RasJson, ZeroEntriesMarkTheAnswer) {
  for (const char* name : {"v2.28.9-1/initbug-tp0-rank3.json"}) {
    const Evidence evidence = read_evidence("x", recorded(name));
    EXPECT_EQ(problem_codes(evidence), "repaired corrupt_answer");
    const RasAnswer& answer = evidence.ras_answers.at(0);
    EXPECT_TRUE(answer.corrupt && answer.complete);
    ASSERT_EQ(answer.communicators.size(), 2u);
    for (const RasCommunicator& communicator : answer.communicators) {
      EXPECT_FALSE(communicator.mismatch || communicator.incomplete);
      for (const RasRank& rank : communicator.ranks) EXPECT_EQ(rank.presence, RasPresence::kAnswered);
    }
  }
}

TEST(RasJson, FewerRanksThanTheSizeMarkTheAnswer) {
  const Evidence evidence = read_evidence(
      "x", answer_of(R"({"hash":"0xab","size":3,"ranks":[)" + rank_of(0, "") + "," + rank_of(2, "") + "]}"));
  EXPECT_EQ(problem_codes(evidence), "corrupt_answer");
  EXPECT_EQ(evidence.ras_answers.at(0).communicators.at(0).ranks.size(), 2u);
}

TEST(RasJson, HostileNumbersAndTypes) {
  const Evidence evidence = read_evidence(
      "x",
      answer_of(
          R"({"hash":"0xab","size":4,"color":{"a":[1,{"b":"]}"}]},"ranks":[)" +
          rank_of(
              0,
              R"("pid":"x","host":7,"collective_counts":{"AllReduce":18446744073709551615,"Reduce":-1,"AllToAll":5,"Broadcast":"9"})") +
          "," + rank_of(0, R"("pid":5)") + "," + rank_of(-3, "") + "," + rank_of(4, "") +
          R"(,{"pid":9},7,"x",[],)" + rank_of(3, R"("host":"unknown","pid":-1,"nvml_dev":99999999999)") +
          R"(],"missing_ranks":[{"rank":2,"status":{"unresponsive":"yes"}},)" +
          R"({"rank":1,"status":{"unresponsive":true,"considered_dead":true}}]},7,null,{"hash":"zz","size":3})"));
  EXPECT_EQ(problem_codes(evidence), "corrupt_answer duplicate_rank");
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_EQ(answer.timeouts, 3u);
  EXPECT_EQ(answer.collection_seconds, 0.5);
  ASSERT_EQ(answer.communicators.size(), 1u);
  const RasCommunicator& communicator = answer.communicators[0];
  ASSERT_EQ(communicator.ranks.size(),
            3u);  // rank 2 lacks the communicator: not believed in a corrupt answer
  EXPECT_EQ(communicator.ranks[0].counts[4], 18446744073709551615u);
  EXPECT_EQ(communicator.ranks[0].counts[1], std::nullopt);
  EXPECT_EQ(communicator.ranks[0].pid, -1);
  EXPECT_EQ(communicator.ranks[1].presence, RasPresence::kDead);
  EXPECT_EQ(communicator.ranks[2].host, "");
  EXPECT_EQ(communicator.ranks[2].nvml_device, -1);
}

TEST(RasJson, OneHashTwiceIsTwoCommunicators) {
  const RasAnswer answer = one_answer(
      answer_of(R"({"hash":"0xab","secondary_hash":"0x2:0x1","size":1,"ranks":[)" + rank_of(0, R"("pid":2)") +
                R"(]},{"hash":"0xab","secondary_hash":"0x1:0x1","size":1,"ranks":[)" +
                rank_of(0, R"("pid":1)") + "]}"));
  ASSERT_EQ(answer.communicators.size(), 2u);
  EXPECT_EQ(answer.communicators[0].ranks[0].pid, 1);
  EXPECT_EQ(answer.communicators[1].ranks[0].pid, 2);
}

TEST(RasJson, BytesThatAreNoUtf8) {
  std::string text = recorded("v2.30.7-1/fini-one-8.json");
  text[text.find("127.0.1.1")] = '\xff';
  const Evidence evidence = read_evidence("x", text);
  EXPECT_EQ(problem_codes(evidence), "invalid_utf8");
  EXPECT_EQ(evidence.ras_answers.at(0).communicators.size(), 2u);
}

// NCCL's layout is read a communicator at a time, any other as a whole.
TEST(RasJson, TheLayoutMakesNoDifference) {
  for (const char* name : {"v2.30.7-1/fini-one-8.json", "v2.30.7-1/dead-then-continued-4-asked-2.json",
                           "v2.28.9-1/initbug-tp0-rank3.json"}) {
    SCOPED_TRACE(name);
    const std::string text = recorded(name);
    std::string compact;
    for (const char c : text) {
      if (c != '\n') compact += c;
    }
    const Evidence printed = read_evidence("x", text);
    const Evidence other = read_evidence("x", compact);
    EXPECT_EQ(problem_codes(printed), problem_codes(other));
    const RasAnswer& a = printed.ras_answers.at(0);
    const RasAnswer& b = other.ras_answers.at(0);
    EXPECT_EQ(a.timestamp, b.timestamp);
    EXPECT_EQ(a.collection_seconds, b.collection_seconds);
    EXPECT_EQ(a.corrupt, b.corrupt);
    EXPECT_TRUE(a.complete && b.complete);
    ASSERT_EQ(a.communicators.size(), b.communicators.size());
    for (std::size_t i = 0; i < a.communicators.size(); ++i) {
      EXPECT_EQ(a.communicators[i].hash, b.communicators[i].hash);
      EXPECT_EQ(a.communicators[i].secondary_hash, b.communicators[i].secondary_hash);
      EXPECT_EQ(a.communicators[i].missing_ranks, b.communicators[i].missing_ranks);
      EXPECT_EQ(statuses(a.communicators[i]), statuses(b.communicators[i]));
      EXPECT_EQ(counts(a.communicators[i], RasCollective::kAllReduce),
                counts(b.communicators[i], RasCollective::kAllReduce));
      EXPECT_EQ(b.communicators[i].line, 1u);
    }
  }
}

TEST(RasJson, LinesOfCommunicatorsAreThoseOfTheFile) {
  const std::string text = recorded("v2.30.7-1/fini-one-8.json");
  const RasAnswer answer = one_answer("OK\nOK\n" + text);
  for (const RasCommunicator& communicator : answer.communicators) {
    const std::size_t at = text.find("\"hash\": \"0x" + model::hash_text(communicator.hash));
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(communicator.line,
              static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + at, '\n')) + 3);
  }
}

TEST(RasJson, DamageInTheMiddleKeepsWhatIsBefore) {
  std::string text = recorded("v2.30.7-1/fini-one-8.json");
  const std::size_t second = text.find("\"hash\"", text.find("\"hash\"") + 1);
  const std::size_t at = text.find(": ", text.find("\"pid\"", text.find("\"rank\": 3", second)));
  text[at] = '#';
  const Evidence evidence = read_evidence("x", text);
  EXPECT_EQ(problem_codes(evidence), "damaged");
  const RasAnswer& answer = evidence.ras_answers.at(0);
  EXPECT_FALSE(answer.complete);
  ASSERT_EQ(answer.communicators.size(), 2u);
  EXPECT_EQ(answer.communicators[0].ranks.size(), 4u);
  EXPECT_EQ(answer.communicators[1].ranks.size(), 2u);  // rank 2 is among the missing ones
}

TEST(RasJson, OtherJsonIsNotTaken) {
  for (const char* text : {R"({"entries":[{"profiling_name":"nccl:all_reduce"}],"nccl_comm_state":{}})",
                           R"({"version":"2.10","pg_config":{},"communicators":[]})",
                           R"({"event":"x","peer":"y"})", R"({"nccl_version":"2.28"})", "[1]", "{"}) {
    EXPECT_NE(read_evidence("x", text).kind.substr(0, 8), "nccl_ras") << text;
  }
}

}  // namespace
}  // namespace unhang::formats::ras
