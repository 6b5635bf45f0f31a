// SPDX-License-Identifier: Apache-2.0
//
// Files as they are saved: several answers in a row, banners, events, cut anywhere.

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "formats/ras/object_span.h"
#include "formats/ras/promises_for_tests.h"
#include "formats/ras/ras.h"
#include "formats/ras/sample_for_tests.h"

namespace unhang::formats::ras {
namespace {

using model::RasAnswer;
using model::RasCommunicator;
using model::RasRank;

constexpr const char* kRecorded[] = {
    "v2.24.3-1/fini-many-16.verbose.txt",
    "v2.24.3-1/exit-8@80s.txt",
    "v2.24.3-1/no-comms-4.txt",
    "v2.28.9-1/initbug-tp0-rank3.txt",
    "v2.28.9-1/initbug-tp0-rank3.json",
    "v2.28.9-1/peer-query-stopped@7s.json",
    "v2.28.9-1/ahead-other-coll-8.txt",
    "v2.30.7-1/initbug-tp0-rank3.txt",
    "v2.30.7-1/lag-eleven-16.verbose.txt",
    "v2.30.7-1/one-comm-only-status-then-next.txt",
    "v2.30.7-1/dead-then-continued-4-asked-2.txt",
    "v2.30.7-1/dead-then-continued-4-asked-2.json",
    "v2.30.7-1/uneven-nodes-6.txt",
    "v2.30.7-1/fini-one-8.json",
    "v2.30.7-1/monitor-all-neighbour.txt",
    "v2.30.7-1/monitor-all.json",
};

TEST(RasStream, SeveralAnswersOfBothFormsAndEvents) {
  const std::string text = recorded("v2.24.3-1/lag-one-8.txt");
  const std::string json = recorded("v2.30.7-1/fini-one-8.json");
  const std::string events = recorded("v2.30.7-1/monitor-all-neighbour.txt");
  const Evidence evidence = read_evidence("x", text + events + json + "\nOK\n" + json + text);
  EXPECT_EQ(evidence.kind, "nccl_ras_json") << "the kind of what is recognised first";
  EXPECT_EQ(problem_codes(evidence), "");
  EXPECT_EQ(evidence.ras_events.size(), 11u);
  ASSERT_EQ(evidence.ras_answers.size(), 4u);
  EXPECT_EQ(evidence.ras_answers[0].is_json, false);
  EXPECT_EQ(evidence.ras_answers[1].is_json, true);
  EXPECT_EQ(evidence.ras_answers[1].offset, text.size() + events.size());
  const auto lines = [](const std::string& s) {
    return static_cast<std::uint64_t>(std::count(s.begin(), s.end(), '\n'));
  };
  EXPECT_EQ(evidence.ras_answers[1].line, lines(text + events) + 1);
  EXPECT_EQ(evidence.ras_answers[2].line, lines(text + events + json + "\nOK\n") + 1);
  EXPECT_EQ(evidence.ras_answers[2].communicators[0].line, evidence.ras_answers[2].line + 8);
  EXPECT_EQ(evidence.ras_answers[3].communicators.at(0).ranks.size(), 8u);
}

TEST(RasStream, BannersBeforeJson) {
  const std::string json = recorded("v2.30.7-1/fini-one-8.json");
  for (const std::string banner :
       {"RCCL version 2.27.7-HEAD:abc\nROCm version 7.0.2\n\n",
        "NCCL version 2.28.9 compiled with CUDA 12.8\n", "SERVER PROTOCOL 2\nOK\nOK\n", "\xEF\xBB\xBF",
        "NCCL version 2.28.9 compiled with CUDA 12.8\n  "}) {
    const Evidence evidence = read_evidence("x", banner + json);
    EXPECT_EQ(evidence.kind, banner[0] == '\xEF' ? evidence.kind : "nccl_ras_json") << banner;
    ASSERT_EQ(evidence.ras_answers.size(), 1u) << banner;
    EXPECT_TRUE(evidence.ras_answers[0].complete);
    EXPECT_EQ(evidence.ras_answers[0].communicators.size(), 2u);
  }
}

TEST(RasStream, CompactObjectsOnOneLineOrMany) {
  const std::string event =
      R"({"timestamp":"2026-11-29 15:13:42","group":"TRACE","event":"PEER_RETRY","peer":{"addr":"10.0.0.1<4000>"},"details":"a {b"})";
  for (const std::string between : {"", "\n", " ", "\r\n", "\n\n"}) {
    const Evidence evidence = read_evidence("x", event + between + event + between + event);
    EXPECT_EQ(evidence.kind, "nccl_ras_events");
    EXPECT_EQ(problem_codes(evidence), "");
    ASSERT_EQ(evidence.ras_events.size(), 3u);
    EXPECT_EQ(evidence.ras_events[2].address, "10.0.0.1<4000>");
    EXPECT_EQ(evidence.ras_events[2].details, "a {b");
    EXPECT_FALSE(evidence.ras_events[2].lifecycle);
  }
}

TEST(RasStream, ACutObjectBeforeAWholeOne) {
  const std::string json = recorded("v2.30.7-1/fini-one-8.json");
  const Evidence evidence = read_evidence("x", json.substr(0, json.size() / 2) + "\n" + json);
  EXPECT_EQ(problem_codes(evidence), "truncated");
  ASSERT_EQ(evidence.ras_answers.size(), 2u);
  EXPECT_FALSE(evidence.ras_answers[0].complete);
  EXPECT_TRUE(evidence.ras_answers[1].complete);
  EXPECT_EQ(evidence.ras_answers[1].communicators.size(), 2u);
}

TEST(RasStream, EventLines) {
  const Evidence evidence = read_evidence(
      "x",
      "[2026-11-29 15:13:42] PEER_NEW: Process 12 on node fe80::1 managing GPUs 0,1 (NVML 2,3) \r\n"
      "[2026-11-29 15:13:43] PEER_RETRY: 10.0.0.1<4000> trying again\n"
      "[2026-11-29 15:13:43] PEER_ODD: something else\n"
      "[2026-11-29 15:13:43] WARNING: Process 12 on node a managing GPU 1\n"
      "[2026-11-29] PEER_DEAD: Process 12 on node a managing GPU 1\n"
      "[2026-11-29 15:13:44] PEER_DEAD: Process 12 on node fe80::1 managing GP");
  EXPECT_EQ(evidence.kind, "nccl_ras_events");
  EXPECT_EQ(problem_codes(evidence), "unknown_lines truncated");
  ASSERT_EQ(evidence.ras_events.size(), 3u);
  EXPECT_TRUE(evidence.ras_events[0].lifecycle);
  EXPECT_EQ(evidence.ras_events[0].host, "fe80::1");
  EXPECT_EQ(evidence.ras_events[0].cuda_devices, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(evidence.ras_events[0].details, "");
  EXPECT_EQ(evidence.ras_events[1].address, "10.0.0.1<4000>");
  EXPECT_EQ(evidence.ras_events[1].details, "trying again");
  EXPECT_EQ(evidence.ras_events[2].details, "something else");
  EXPECT_EQ(evidence.ras_events[2].line, 3u);
}

TEST(RasStream, LogsOfNcclAreNoAnswers) {
  for (const char* text :
       {"NCCL version 2.21.5+cuda12.4\nhost:1:2 [0] NCCL INFO Bootstrap\n",
        "NCCL version 2.21.5 compiled with CUDA 12.4\nhost:1:2 [0] NCCL INFO Bootstrap\n",
        "Errors\n======\nWarnings\n========\n", "[2026-11-29 15:13:43] WARNING: out of memory\n"}) {
    const Evidence evidence = read_evidence("x", text);
    EXPECT_TRUE(evidence.kind == "unknown" || evidence.kind == "log") << text;
    EXPECT_TRUE(evidence.ras_answers.empty()) << text;
  }
}

TEST(RasStream, AServerThatOnlyRefuses) {
  const Evidence evidence = read_evidence("x", "SERVER PROTOCOL 2\nOK\nERROR: Unknown command FOO\n");
  EXPECT_EQ(evidence.kind, "nccl_ras_text");
  EXPECT_EQ(problem_codes(evidence), "refused");
  EXPECT_TRUE(evidence.ras_answers.empty());
  EXPECT_EQ(problem_codes(read_evidence("x", "SERVER PROTOCOL 2\nOK\n")), "no_answer");
}

// Whether `part` says nothing of a rank that `whole` does not say.
void expect_no_more(const RasRank& part, const RasRank& whole) {
  EXPECT_EQ(part.presence, whole.presence);
  if (part.pid >= 0) {
    EXPECT_EQ(part.pid, whole.pid);
    EXPECT_EQ(part.host, whole.host);
  }
  if (part.status != model::RasStatus::kUnknown) {
    EXPECT_EQ(part.status, whole.status);
  }
  for (std::size_t i = 0; i < part.counts.size(); ++i) {
    if (part.counts[i]) {
      EXPECT_EQ(part.counts[i], whole.counts[i]);
    }
  }
}

void expect_no_more(const RasCommunicator& part, const RasAnswer& whole) {
  const auto same =
      std::find_if(whole.communicators.begin(), whole.communicators.end(), [&](const auto& other) {
        return other.hash == part.hash && other.secondary_hash == part.secondary_hash;
      });
  ASSERT_NE(same, whole.communicators.end()) << model::hash_text(part.hash);
  EXPECT_EQ(part.size, same->size);
  for (const RasRank& rank : part.ranks) {
    const auto found = std::find_if(same->ranks.begin(), same->ranks.end(),
                                    [&](const RasRank& other) { return other.rank == rank.rank; });
    ASSERT_NE(found, same->ranks.end()) << "rank " << rank.rank;
    expect_no_more(rank, *found);
  }
}

// Cut after any byte it tells less than the whole, and nothing else.
TEST(RasStream, CutAnywhere) {
  for (const char* name : kRecorded) {
    const std::string text = recorded(name);
    const Evidence whole = read_evidence("x", text);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      SCOPED_TRACE(std::string(name) + " cut at " + std::to_string(cut));
      Evidence part;
      parse_text(std::string_view(text).substr(0, cut), part);
      ASSERT_EQ(broken_promise(part), "");
      ASSERT_LE(part.ras_answers.size(), whole.ras_answers.size());
      ASSERT_LE(part.ras_events.size(), whole.ras_events.size());
      for (std::size_t i = 0; i < part.ras_events.size(); ++i) {
        EXPECT_EQ(part.ras_events[i].details, whole.ras_events[i].details);
      }
      for (const RasAnswer& answer : part.ras_answers) {
        if (!answer.nccl_version.empty()) {
          EXPECT_EQ(answer.nccl_version, whole.ras_answers[0].nccl_version);
        }
        EXPECT_LE(answer.rows.size(), whole.ras_answers[0].rows.size());
        for (const RasCommunicator& communicator : answer.communicators) {
          expect_no_more(communicator, whole.ras_answers[0]);
        }
        // JSON without its last line end is whole; text without its last section is not.
        if (answer.is_json ? cut < text.rfind('}') + 1 : cut < text.find("Warnings\n========")) {
          EXPECT_FALSE(answer.complete);
        }
      }
      if (HasFailure()) return;
    }
  }
}

// Any bytes in the place of others: it ends, and what it says holds together.
TEST(RasStream, AnyDamage) {
  rc::check("a damaged file keeps the promises", [] {
    std::string text =
        recorded(*rc::gen::elementOf(std::vector<const char*>(std::begin(kRecorded), std::end(kRecorded))));
    const auto damages = *rc::gen::inRange(1, 8);
    for (int i = 0; i < damages; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const auto length = std::min(*rc::gen::inRange<std::size_t>(0, 40), text.size() - at);
      text.replace(at, length, *rc::gen::arbitrary<std::string>());
    }
    Evidence evidence;
    parse_json(text, evidence);
    RC_ASSERT(broken_promise(evidence).empty());
  });
}

TEST(RasStream, ManyAnswersFoldTheirProblems) {
  const std::string text = recorded("v2.30.7-1/initbug-tp0-rank3.txt");
  std::string many;
  for (int i = 0; i < 200; ++i) many += text;
  const Evidence evidence = read_evidence("x", many);
  EXPECT_EQ(evidence.ras_answers.size(), 200u);
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_NE(evidence.problems[0].text.find("199 more of this kind"), std::string::npos);
}

// Lines that each look like the beginning of an object cost no more than their length.
TEST(RasStream, OpenObjectsAreLinear) {
  std::string text = R"({"nccl_version":"2","communicators":[)";
  for (int i = 0; i < 100'000; ++i) text += "\n{";
  Evidence evidence;
  parse_json(text, evidence);
  EXPECT_EQ(broken_promise(evidence), "");
  EXPECT_EQ(object_at("{\n{\n{").text, "{\n");
}

}  // namespace
}  // namespace unhang::formats::ras
