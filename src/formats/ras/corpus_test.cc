// SPDX-License-Identifier: Apache-2.0
//
// Every capture of the corpus against the truth beside it, where the corpus is there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/ras/truth_for_tests.h"

namespace unhang::formats::ras {
namespace {

using model::RasAnswer;
using model::RasCommunicator;
using model::RasPresence;
using model::RasRank;
using model::RasStatus;

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path corpus() {
  return std::filesystem::path(UNHANG_SOURCE_DIR) / "../shared/corpus/ras";
}

std::vector<std::filesystem::path> truths() {
  std::vector<std::filesystem::path> out;
  if (!std::filesystem::is_directory(corpus())) return out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus())) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".truth.json") && name != "monitor.truth.json") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

const RasCommunicator* find(const RasAnswer& answer, std::uint64_t hash) {
  for (const RasCommunicator& communicator : answer.communicators) {
    if (communicator.hash == hash) return &communicator;
  }
  return nullptr;
}

// Whatever is said of a rank must be true.
void expect_true_rank(const RasRank& rank, const TrueRank& truth, const Truth& whole) {
  if (rank.pid >= 0) {
    EXPECT_EQ(rank.pid, truth.pid);
    EXPECT_TRUE(rank.host.starts_with("127.0.1.")) << rank.host;
  }
  const bool missing =
      rank.presence != RasPresence::kAnswered && rank.presence != RasPresence::kNoCommunicator;
  EXPECT_EQ(missing, whole.is_lost(truth));
  if (whole.is_lost(truth)) return;
  EXPECT_EQ(rank.presence == RasPresence::kNoCommunicator, truth.gone);
  if (rank.status != RasStatus::kUnknown) {
    EXPECT_EQ(rank.status, whole.status(truth));
  }
  if (rank.init_state) {
    EXPECT_EQ(static_cast<int>(*rank.init_state), truth.init);
  }
  if (rank.async_error) {
    EXPECT_EQ(static_cast<int>(*rank.async_error), truth.async);
  }
  std::optional<std::uint64_t> sum = 0;
  for (std::size_t i = 0; i < truth.counts.size(); ++i) {
    if (rank.counts[i] && truth.counts[i]) {
      EXPECT_EQ(*rank.counts[i], *truth.counts[i]);
    }
    sum = sum && truth.counts[i] ? std::optional(*sum + *truth.counts[i]) : std::nullopt;
  }
  if (rank.counts[5] && sum) {
    EXPECT_EQ(*rank.counts[5], *sum);
  }
}

void expect_true_communicator(const RasCommunicator& communicator, const Truth& truth) {
  SCOPED_TRACE(model::hash_text(communicator.hash));
  const auto found = truth.communicators.find(communicator.hash);
  ASSERT_NE(found, truth.communicators.end());
  const TrueCommunicator& expected = found->second;
  EXPECT_EQ(communicator.size, static_cast<std::int32_t>(expected.ranks.size()));
  std::int32_t last = -1;
  for (const RasRank& rank : communicator.ranks) {
    SCOPED_TRACE(rank.rank);
    ASSERT_GT(rank.rank, last);
    last = rank.rank;
    ASSERT_LT(static_cast<std::size_t>(rank.rank), expected.ranks.size());
    expect_true_rank(rank, expected.ranks[static_cast<std::size_t>(rank.rank)], truth);
  }
}

// What stands out in the truth: the flags that the answer must show.
struct Flags {
  bool incomplete = false, error = false, mismatch = false, any_answered = false;
};

Flags flags_of(const TrueCommunicator& communicator, const Truth& truth, bool one_counter) {
  Flags out;
  std::set<RasStatus> statuses;
  std::set<std::vector<std::uint64_t>> counts;
  for (const TrueRank& rank : communicator.ranks) {
    if (truth.is_lost(rank)) {
      out.incomplete = true;
      continue;
    }
    statuses.insert(truth.status(rank));
    if (rank.gone) continue;
    out.any_answered = true;
    const auto is_error = [](int code) { return code != 0 && code != 7; };
    if (is_error(rank.init) || is_error(rank.async)) out.error = true;
    std::vector<std::uint64_t> row;
    for (const auto& count : rank.counts) row.push_back(count.value_or(248));
    if (one_counter) row = {row[0] + row[1] + row[2] + row[3] + row[4]};
    counts.insert(row);
  }
  out.mismatch = statuses.size() > 1 || counts.size() > 1;
  return out;
}

void expect_flags(const RasCommunicator& communicator, const Flags& flags) {
  EXPECT_EQ(communicator.incomplete, flags.incomplete);
  EXPECT_EQ(communicator.error, flags.error);
  EXPECT_EQ(communicator.mismatch, flags.mismatch);
}

RasAnswer one_answer(const std::filesystem::path& path, const std::string& kind) {
  const Evidence evidence = read_evidence("x", file_text(path));
  EXPECT_EQ(evidence.kind, kind);
  EXPECT_EQ(evidence.ras_answers.size(), 1u);
  if (evidence.ras_answers.empty()) return {};
  const RasAnswer& answer = evidence.ras_answers[0];
  EXPECT_TRUE(answer.complete);
  for (const auto& problem : evidence.problems) {
    if (!answer.corrupt && problem.code != "repaired") ADD_FAILURE() << problem.code << ": " << problem.text;
  }
  return answer;
}

// All communicators with all ranks.
void check_json(const std::filesystem::path& path, const Truth& truth) {
  const RasAnswer answer = one_answer(path, "nccl_ras_json");
  for (const RasCommunicator& communicator : answer.communicators) {
    if (!truth.damaged) expect_true_communicator(communicator, truth);
  }
  if (truth.damaged) return;
  EXPECT_FALSE(answer.corrupt);
  for (const auto& [hash, expected] : truth.communicators) {
    SCOPED_TRACE(expected.name);
    const Flags flags = flags_of(expected, truth, false);
    const RasCommunicator* communicator = find(answer, hash);
    ASSERT_EQ(communicator != nullptr, flags.any_answered);
    if (communicator == nullptr) continue;
    EXPECT_EQ(communicator->ranks.size(), expected.ranks.size());
    expect_flags(*communicator, flags);
    for (const RasRank& rank : communicator->ranks) {
      EXPECT_EQ(rank.pid, expected.ranks[static_cast<std::size_t>(rank.rank)].pid);
      EXPECT_EQ(rank.counts[4].has_value(), rank.presence == RasPresence::kAnswered);
    }
  }
}

// Only those with trouble have a name; of them every rank that is missing must be told when there are few.
void check_text(const std::filesystem::path& path, const Truth& truth, bool verbose) {
  const RasAnswer answer = one_answer(path, "nccl_ras_text");
  if (truth.damaged) return;
  EXPECT_FALSE(answer.corrupt);
  for (const RasCommunicator& communicator : answer.communicators) {
    expect_true_communicator(communicator, truth);
  }
  const bool one_counter = answer.nccl_version.starts_with("2.24");
  std::int64_t in_rows = 0, present = 0;
  for (const auto& row : answer.rows) in_rows += row.communicators;
  for (const auto& [hash, expected] : truth.communicators) {
    SCOPED_TRACE(expected.name);
    const Flags flags = flags_of(expected, truth, one_counter);
    present += flags.any_answered ? 1 : 0;
    const RasCommunicator* communicator = find(answer, hash);
    const bool in_trouble = flags.incomplete || flags.error || flags.mismatch;
    ASSERT_EQ(communicator != nullptr, in_trouble && flags.any_answered);
    if (communicator == nullptr) continue;
    expect_flags(*communicator, flags);
    if (truth.lost.size() == 0 || (!verbose && truth.lost.size() > 10)) continue;
    std::size_t named = 0;
    for (const RasRank& rank : communicator->ranks) named += truth.is_lost(expected.ranks[rank.rank]);
    EXPECT_EQ(named, truth.lost.size());
    EXPECT_EQ(communicator->ranks.size(), expected.ranks.size());
  }
  EXPECT_EQ(in_rows, present);
  EXPECT_EQ(answer.silent_processes + answer.dead_processes, truth.lost.size());
}

TEST(Corpus, EveryCaptureSaysWhatIsTrue) {
  const auto all = truths();
  if (all.empty()) GTEST_SKIP() << "no corpus beside the sources";
  std::size_t captures = 0;
  for (const auto& path : all) {
    const Truth truth = read_truth(path);
    std::string stem = path.string();
    stem.resize(stem.size() - std::string(".truth.json").size());
    for (const std::string ending : {".txt", ".verbose.txt", ".json"}) {
      if (!std::filesystem::exists(stem + ending)) continue;
      SCOPED_TRACE(stem + ending);
      ++captures;
      if (ending == ".json") {
        check_json(stem + ending, truth);
      } else {
        check_text(stem + ending, truth, ending == ".verbose.txt");
      }
    }
  }
  EXPECT_GE(captures, 400u);
}

void expect_agreement(const RasCommunicator& text, const RasCommunicator& json) {
  EXPECT_EQ(text.size, json.size);
  EXPECT_EQ(text.missing_ranks, json.missing_ranks);
  for (const RasRank& rank : text.ranks) {
    const auto same = std::find_if(json.ranks.begin(), json.ranks.end(),
                                   [&](const RasRank& other) { return other.rank == rank.rank; });
    ASSERT_NE(same, json.ranks.end()) << rank.rank;
    EXPECT_EQ(rank.presence, same->presence);
    EXPECT_EQ(rank.status, same->status);
    if (rank.pid >= 0) {
      EXPECT_EQ(rank.pid, same->pid);
      EXPECT_EQ(rank.host, same->host);
      EXPECT_EQ(rank.cuda_device, same->cuda_device);
      EXPECT_EQ(rank.nvml_device, same->nvml_device);
    }
    for (std::size_t i = 0; i < rank.counts.size(); ++i) {
      if (rank.counts[i]) {
        EXPECT_EQ(rank.counts[i], same->counts[i]);
      }
    }
  }
}

TEST(Corpus, TextAndJsonOfOneScenarioAgree) {
  const auto all = truths();
  if (all.empty()) GTEST_SKIP() << "no corpus beside the sources";
  std::size_t compared = 0;
  for (const auto& path : all) {
    std::string stem = path.string();
    stem.resize(stem.size() - std::string(".truth.json").size());
    // Three queries one after the other: what moves differs.
    if (!std::filesystem::exists(stem + ".json") || read_truth(path).moving) continue;
    const RasAnswer json = one_answer(stem + ".json", "nccl_ras_json");
    for (const std::string ending : {".txt", ".verbose.txt"}) {
      SCOPED_TRACE(stem + ending);
      const RasAnswer text = one_answer(stem + ending, "nccl_ras_text");
      EXPECT_EQ(text.nccl_version, json.nccl_version);
      EXPECT_EQ(text.cuda_runtime, json.cuda_runtime);
      EXPECT_EQ(text.cuda_driver, json.cuda_driver);
      for (const RasCommunicator& communicator : text.communicators) {
        const RasCommunicator* same = find(json, communicator.hash);
        if (same == nullptr) continue;
        expect_agreement(communicator, *same);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 50u);
}

TEST(Corpus, MonitorStreams) {
  const auto folder = corpus() / "v2.30.7-1";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no corpus beside the sources";
  const Evidence neighbour = read_evidence("x", file_text(folder / "monitor-all-neighbour.txt"));
  EXPECT_EQ(neighbour.kind, "nccl_ras_events");
  ASSERT_EQ(neighbour.ras_events.size(), 11u);
  EXPECT_EQ(neighbour.ras_events[1].event, "PEER_UNRESPONSIVE");
  EXPECT_EQ(neighbour.ras_events[1].details, "peer not responding for 5s (connect timeout)");
  EXPECT_FALSE(neighbour.ras_events[1].lifecycle);
  for (const auto& [name, count] :
       {std::pair("monitor-all.json", 1u), {"monitor-all.txt", 1u}, {"monitor-lifecycle.txt", 1u}}) {
    const Evidence evidence = read_evidence("x", file_text(folder / name));
    EXPECT_EQ(evidence.kind, "nccl_ras_events") << name;
    EXPECT_TRUE(evidence.problems.empty()) << name;
    ASSERT_EQ(evidence.ras_events.size(), count) << name;
    const model::RasEvent& event = evidence.ras_events[0];
    EXPECT_EQ(event.event, "PEER_DEAD");
    EXPECT_TRUE(event.lifecycle);
    EXPECT_EQ(event.host, "127.0.1.2");
    EXPECT_EQ(event.pid, 1919);
    EXPECT_EQ(event.cuda_devices, std::vector<std::int32_t>{1});
    EXPECT_EQ(event.timestamp, "2026-11-29 15:13:42");
    EXPECT_EQ(event.details, "");
  }
}

}  // namespace
}  // namespace unhang::formats::ras
