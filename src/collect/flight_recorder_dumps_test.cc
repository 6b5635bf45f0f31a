// SPDX-License-Identifier: Apache-2.0
#include "collect/flight_recorder_dumps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/capture_clocks_for_tests.h"

namespace unhang::collect {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Status = model::SourceStatus;

constexpr std::int64_t kSecond = 1'000'000'000;

class DumpsTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  DumpsTest() {
    x_search.host = "gpu-b07";
    x_search.own_namespace = "mnt:[1]";
    x_search.still = 60s;
  }

  // A worker whose file system is a folder of its own.
  os::Process& add_worker(std::int64_t pid, const std::string& rank = "") {
    os::Process process;
    process.pid = pid;
    process.user = static_cast<std::int64_t>(::getuid());
    process.root = x_folder / "proc" / std::to_string(pid) / "root";
    process.mount_namespace = "mnt:[" + std::to_string(pid) + "]";
    process.environment = {{"HOME", "/root"}};
    if (!rank.empty()) process.environment.emplace_back("RANK", rank);
    process.environment_known = true;
    fs::create_directories(process.root);
    x_search.workers.push_back(process);
    return x_search.workers.back();
  }
  static std::string root_of(std::int64_t pid) { return "proc/" + std::to_string(pid) + "/root"; }

  void set_time(const fs::path& path, std::int64_t seconds) {
    const timespec times[2]{{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (x_folder / path).c_str(), times, 0), 0);
  }

  SourceOutcome run() { return run_alone(flight_recorder_source("dumps", x_search)); }

  const model::BundleFile* file(const std::string& path) const {
    for (const auto& known : x_files) {
      if (known.path == path) return &known;
    }
    ADD_FAILURE() << path << " is not listed";
    return nullptr;
  }

  DumpSearch x_search;
};

TEST_F(DumpsTest, CopiesThemFromEachContainerUnderTheirNames) {
  add_worker(412, "0");
  add_worker(413, "1");
  put(root_of(412) + "/tmp/nccl_trace_rank_0", "zero.");
  put(root_of(413) + "/root/.cache/torch/comm_lib_trace_rank_1", "one.");
  put(root_of(413) + "/tmp/unrelated", "x");
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kAnswered) << outcome.reason;
  EXPECT_EQ(files_on_disk(), (std::vector<std::string>{"flight_recorder/gpu-b07-412/nccl_trace_rank_0",
                                                       "flight_recorder/gpu-b07-413/comm_lib_trace_rank_1"}));
  EXPECT_EQ(content(x_bundle / "flight_recorder/gpu-b07-413/comm_lib_trace_rank_1"), "one.");
  const auto* zero = file("flight_recorder/gpu-b07-412/nccl_trace_rank_0");
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(zero->original_path, "/tmp/nccl_trace_rank_0");
  EXPECT_EQ(zero->pid, 412);
  EXPECT_EQ(zero->bytes, 5u);
  EXPECT_TRUE(zero->modified_ns);
  EXPECT_FALSE(zero->stale || zero->growing || zero->cut);
}

TEST_F(DumpsTest, DumpsOfOneNameFromSeveralContainersDoNotMeet) {
  add_worker(412);
  add_worker(413);
  put(root_of(412) + "/tmp/nccl_trace_rank_0", "a.");
  put(root_of(413) + "/tmp/nccl_trace_rank_0", "b.");
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(content(x_bundle / "flight_recorder/gpu-b07/nccl_trace_rank_0"), "a.");
  EXPECT_EQ(content(x_bundle / "flight_recorder/gpu-b07.2/nccl_trace_rank_0"), "b.");
  EXPECT_EQ(file("flight_recorder/gpu-b07/nccl_trace_rank_0")->pid, -1) << "no environment says whose it is";
}

TEST_F(DumpsTest, OldOnesAreMarkedAndKept) {
  add_worker(412, "0").started_ns = 1'700'000'100 * kSecond;
  put(root_of(412) + "/tmp/nccl_trace_rank_0", "old.");
  set_time(root_of(412) + "/tmp/nccl_trace_rank_0", 1'700'000'000);
  put(root_of(412) + "/tmp/nccl_trace_rank_1", "new.");
  set_time(root_of(412) + "/tmp/nccl_trace_rank_1", 1'700'000'200);
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_TRUE(file("flight_recorder/gpu-b07-412/nccl_trace_rank_0")->stale);
  EXPECT_EQ(file("flight_recorder/gpu-b07-412/nccl_trace_rank_0")->modified_ns, 1'700'000'000 * kSecond);
  EXPECT_FALSE(file("flight_recorder/gpu-b07/nccl_trace_rank_1")->stale);
}

// What lies in a container may be made by a stranger.
TEST_F(DumpsTest, NothingElseIsCopiedThroughADump) {
  add_worker(412, "0");
  put("secret", "outside.");
  put(root_of(412) + "/etc/shadow", "inside.");
  fs::create_directories(x_folder / root_of(412) / "tmp");
  fs::create_symlink(x_folder / "secret", x_folder / root_of(412) / "tmp/nccl_trace_rank_0");
  fs::create_symlink("/etc/shadow", x_folder / root_of(412) / "tmp/nccl_trace_rank_1");
  ASSERT_EQ(::mkfifo((x_folder / root_of(412) / "tmp/nccl_trace_rank_2.pipe").c_str(), 0600), 0);
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing) << outcome.reason;
  EXPECT_TRUE(files_on_disk().empty());
}

TEST_F(DumpsTest, AFileOfAnotherUserIsPassedOver) {
  add_worker(412, "0").user = static_cast<std::int64_t>(::getuid()) + 1;
  put(root_of(412) + "/tmp/nccl_trace_rank_0", "zero.");
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_NE(outcome.reason.find("belongs to another user"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(files_on_disk().empty());
}

TEST_F(DumpsTest, FoldersFilesAndPrefixesOfThePerson) {
  put("given/a/nccl_trace_rank_0", "0.");
  put("given/any name", "{}");
  put("given/.hidden", "x.");
  put("single", "1.");
  put("pre/fix_7", "7.");
  put("pre/fixed", "x.");
  x_search.paths = {x_folder / "given", x_folder / "single", x_folder / "pre/fix_", x_folder / "nowhere/x_"};
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, (x_folder / "nowhere/x_").string() + ": No such file or directory");
  EXPECT_EQ(files_on_disk(),
            (std::vector<std::string>{"flight_recorder/gpu-b07/any_name", "flight_recorder/gpu-b07/fix_7",
                                      "flight_recorder/gpu-b07/nccl_trace_rank_0",
                                      "flight_recorder/gpu-b07/single"}));
}

TEST_F(DumpsTest, OneThatIsReachedTwiceIsKeptOnce) {
  put("d/nccl_trace_rank_0", "0.");
  x_search.paths = {x_folder / "d", x_folder / "d/nccl_trace_rank_0"};
  x_search.own_prefixes = {x_folder / "d/nccl_trace_rank_"};
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_EQ(x_files.size(), 1u);
}

TEST_F(DumpsTest, NothingFoundSaysWhereItLooked) {
  x_search.own_prefixes = {x_folder / "d/nccl_trace_rank_"};
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kMissing);
  EXPECT_EQ(outcome.reason, "no dump was found; looked for " + (x_folder / "d/nccl_trace_rank_*").string());
}

TEST_F(DumpsTest, OneThatDoesNotEndLikeADumpIsReadAgainAndKeptWhenItRests) {
  put("d/nccl_trace_rank_0", "half of a pick");
  x_search.paths = {x_folder / "d"};
  EXPECT_EQ(run().status, Status::kAnswered);
  EXPECT_FALSE(x_files.at(0).growing);
  EXPECT_EQ(x_clock->wall_ns() - fixture::kStartNs, kSecond) << "one wait between two copies";
}

// The clock of the test writes into the file each time that the copier waits.
class GrowingClock final : public CaptureClock {
 public:
  GrowingClock(fs::path path, int times, std::string last)
      : x_path(std::move(path)), x_times(times), x_last(std::move(last)) {}
  Time now() override { return x_inner.now(); }
  std::int64_t wall_ns() override { return x_inner.wall_ns(); }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Time until) override {
    x_inner.wait(lock, changed, until);
    if (x_times-- > 0) std::ofstream(x_path, std::ios::app) << (x_times == 0 ? x_last : "more");
  }

 private:
  fixture::JumpingClock x_inner;
  fs::path x_path;
  int x_times;
  std::string x_last;
};

class GrowingDumps : public DumpsTest {
 protected:
  SourceOutcome run_growing(int times, const std::string& last) {
    put("d/nccl_trace_rank_0", "begin");
    x_search.paths = {x_folder / "d"};
    CaptureSettings settings;
    settings.folder = x_bundle;
    settings.budget = 10s;
    settings.clock = std::make_shared<GrowingClock>(x_folder / "d/nccl_trace_rank_0", times, last);
    model::BundleManifest planned;
    planned.sources.push_back({.id = "dumps", .kind = "flight_recorder"});
    auto writer = BundleWriter::create(x_bundle, planned);
    const std::shared_ptr<BundleWriter> shared = std::move(*writer);
    CaptureContext context(shared, 0, settings.clock->now() + 10s, settings);
    const auto outcome = flight_recorder_source("dumps", x_search).run(context);
    x_files = shared->manifest().sources.front().files;
    return outcome;
  }
};

TEST_F(GrowingDumps, IsCopiedAgainUntilItIsWhole) {
  EXPECT_EQ(run_growing(3, "end.").status, Status::kAnswered);
  EXPECT_EQ(content(x_bundle / x_files.at(0).path), "beginmoremoreend.");
  EXPECT_EQ(x_files.at(0).bytes, 17u);
  EXPECT_FALSE(x_files.at(0).growing);
}

TEST_F(GrowingDumps, OneThatNeverRestsIsKeptAndMarked) {
  const SourceOutcome outcome = run_growing(1000, "");
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(outcome.reason, "1 dumps were still being written when they were copied");
  EXPECT_TRUE(x_files.at(0).growing);
  EXPECT_EQ(content(x_bundle / x_files.at(0).path).substr(0, 9), "beginmore");
}

TEST_F(DumpsTest, LargeOnesAreCut) {
  put("d/nccl_trace_rank_0", std::string(100, 'x') + ".");
  put("d/nccl_trace_rank_1", std::string(100, 'y') + ".");
  x_search.paths = {x_folder / "d"};
  x_search.max_file_bytes = 60;
  x_search.max_total_bytes = 100;
  const SourceOutcome outcome = run();
  EXPECT_EQ(outcome.status, Status::kPartial);
  EXPECT_EQ(x_files.at(0).bytes, 60u);
  EXPECT_TRUE(x_files.at(0).cut);
  EXPECT_EQ(x_files.at(1).bytes, 40u);
  EXPECT_TRUE(x_files.at(1).cut);
}

}  // namespace
}  // namespace unhang::collect
