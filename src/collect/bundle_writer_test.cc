// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "collect/capture_clocks_for_tests.h"
#include "collect/manifest_json.h"

namespace unhang::collect {
namespace {

using fixture::kStartNs;
using Status = model::SourceStatus;

class BundleWriterTest : public ::testing::Test, protected fixture::BundleFolder {
 protected:
  std::unique_ptr<BundleWriter> create() {
    model::BundleManifest planned;
    planned.tool_version = "1.2.3";
    planned.started_ns = kStartNs;
    planned.host = "gpu-b07";
    planned.sources.push_back({.id = "ras-1", .kind = "ras"});
    planned.sources.push_back({.id = "dumps", .kind = "flight_recorder"});
    auto writer = BundleWriter::create(x_bundle, planned);
    EXPECT_TRUE(writer);
    return std::move(*writer);
  }
};

TEST_F(BundleWriterTest, IsAValidBundleFromTheFirstMoment) {
  const auto writer = create();
  const model::BundleManifest manifest = manifest_on_disk();
  EXPECT_EQ(manifest.host, "gpu-b07");
  EXPECT_EQ(manifest.ended_ns, std::nullopt);
  ASSERT_EQ(manifest.sources.size(), 2u);
  EXPECT_EQ(manifest.sources[0].status, Status::kSilent);
  EXPECT_EQ(manifest.sources[0].reason, "the capture ended before this was done");
}

TEST_F(BundleWriterTest, KeepsFilesWithTheirHashes) {
  const auto writer = create();
  ASSERT_TRUE(writer->keep(
      1, "dump.",
      {.path = "flight_recorder/gpu-b07-412/nccl_trace_rank_3", .captured_ns = kStartNs, .pid = 412}));
  auto entry = writer->open("ras/000.json");
  ASSERT_TRUE(entry);
  ASSERT_TRUE(entry->write("half"));
  ASSERT_TRUE(entry->rewind());
  ASSERT_TRUE(entry->write("{"));
  ASSERT_TRUE(entry->write("}"));
  ASSERT_TRUE(writer->close(0, std::move(*entry), {.captured_ns = kStartNs}));
  ASSERT_TRUE(
      writer->end_source(0, {.id = "ras-1", .kind = "ras", .status = Status::kAnswered, .elapsed_ms = 7}));
  ASSERT_TRUE(writer->finish(kStartNs + 5, false));

  const model::BundleManifest manifest = manifest_on_disk();
  EXPECT_EQ(manifest, writer->manifest());
  EXPECT_EQ(manifest.ended_ns, kStartNs + 5);
  ASSERT_EQ(manifest.sources.size(), 2u);
  EXPECT_EQ(manifest.sources[0].status, Status::kAnswered);
  ASSERT_EQ(manifest.sources[0].files.size(), 1u);
  EXPECT_EQ(manifest.sources[0].files[0].path, "ras/000.json");
  EXPECT_EQ(manifest.sources[0].files[0].bytes, 2u);
  EXPECT_EQ(manifest.sources[0].files[0].sha256, base::sha256_hex("{}"));
  ASSERT_EQ(manifest.sources[1].files.size(), 1u);
  EXPECT_EQ(manifest.sources[1].files[0].pid, 412);
  EXPECT_EQ(content(x_bundle / "ras/000.json"), "{}");
  EXPECT_EQ(files_on_disk(),
            (std::vector<std::string>{"flight_recorder/gpu-b07-412/nccl_trace_rank_3", "ras/000.json"}));
}

TEST_F(BundleWriterTest, IsForItsOwnerOnly) {
  const auto writer = create();
  ASSERT_TRUE(writer->keep(0, "x", {.path = "ras/0"}));
  const auto mode = [&](const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::stat((x_bundle / name).c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  EXPECT_EQ(mode(""), 0700u);
  EXPECT_EQ(mode("ras"), 0700u);
  EXPECT_EQ(mode("ras/0"), 0600u);
  EXPECT_EQ(mode("manifest.json"), 0600u);
}

TEST_F(BundleWriterTest, NeverWritesIntoAFolderWithSomethingInIt) {
  put("bundle/evidence", "precious");
  const auto writer = BundleWriter::create(x_bundle, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(files_on_disk(), (std::vector<std::string>{"evidence"}));
}

TEST_F(BundleWriterTest, TakesNothingAfterItsEnd) {
  const auto writer = create();
  auto entry = writer->open("ras/late");
  ASSERT_TRUE(entry);
  ASSERT_TRUE(entry->write("late"));
  ASSERT_TRUE(writer->finish(kStartNs, true));
  EXPECT_FALSE(writer->close(0, std::move(*entry), {}));
  EXPECT_FALSE(writer->keep(0, "later", {.path = "ras/later"}));
  EXPECT_FALSE(writer->end_source(0, {}));
  EXPECT_FALSE(writer->finish(kStartNs, false));
  EXPECT_TRUE(manifest_on_disk().interrupted);
  EXPECT_TRUE(files_on_disk().empty());
}

TEST_F(BundleWriterTest, NamesLeadNowhereElse) {
  const auto writer = create();
  ASSERT_TRUE(writer->keep(0, "x", {.path = "../../etc/.pass wd"}));
  EXPECT_EQ(files_on_disk(), (std::vector<std::string>{"_../_../etc/_.pass_wd"}));
  EXPECT_EQ(manifest_on_disk().sources[0].files[0].path, "_../_../etc/_.pass_wd");
  EXPECT_FALSE(writer->keep(0, "y", {.path = "../../etc/.pass wd"})) << "there is one already";
  EXPECT_EQ(content(x_bundle / "_../_../etc/_.pass_wd"), "x");
}

TEST(CleanName, IsHarmless) {
  EXPECT_EQ(clean_name("127.0.0.1:28028"), "127.0.0.1_28028");
  EXPECT_EQ(clean_name("[::1]:28028"), "___1__28028");
  EXPECT_EQ(clean_name(""), "_");
  EXPECT_EQ(clean_name("-rf"), "_-rf");
  EXPECT_EQ(clean_name("a\xff\n"), "a__");
  EXPECT_EQ(clean_name(std::string(500, 'a')).size(), 120u);
}

// Whatever values there are, the reader gets them back from the bytes that the writer makes.
rc::Gen<std::string> text() {
  return rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab/\"\\ \n\t{}:,")));
}
rc::Gen<std::int64_t> moment() {
  return rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000'000);
}

TEST(ManifestJson, IsReadBackAsItWas) {
  rc::check("manifest_json and parse_manifest are inverse", [] {
    model::BundleManifest manifest;
    manifest.tool_version = *text();
    manifest.started_ns = *moment();
    manifest.ended_ns = *moment();
    manifest.interrupted = *rc::gen::arbitrary<bool>();
    manifest.host = *text();
    manifest.instance = *text();
    manifest.deployment = *text();
    manifest.labels = {{"a", *text()}, {"b", *text()}};
    manifest.budget_ms = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
    const auto sources = *rc::gen::inRange(0, 4);
    for (int i = 0; i < sources; ++i) {
      model::BundleSource source;
      source.id = *text();
      source.kind = *text();
      source.asked_kind = "url";
      source.asked = *text();
      source.status = static_cast<Status>(*rc::gen::inRange(0, 6));
      source.reason = *text();
      source.started_ns = *moment();
      source.elapsed_ms = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
      source.nccl_version = *text();
      model::BundleFile file;
      file.path = "a/b" + std::to_string(i);
      file.captured_ns = *moment();
      file.bytes = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 40);
      file.sha256 = base::sha256_hex(*text());
      file.original_path = *text();
      if (*rc::gen::arbitrary<bool>()) file.modified_ns = *moment();
      file.pid = *rc::gen::inRange<std::int64_t>(-1, 5);
      file.note = *text();
      file.stale = *rc::gen::arbitrary<bool>();
      file.growing = *rc::gen::arbitrary<bool>();
      file.cut = *rc::gen::arbitrary<bool>();
      source.files.push_back(file);
      manifest.sources.push_back(source);
    }
    manifest.processes = {{1, {1, 2}, *text(), *moment(), *text(), {{"RANK", *text()}}}};
    const auto evidence = formats::read_evidence("m", manifest_json(manifest));
    RC_ASSERT(evidence.problems.empty());
    RC_ASSERT(evidence.bundles.size() == 1u);
    RC_ASSERT(evidence.bundles.front() == manifest);
  });
}

}  // namespace
}  // namespace unhang::collect
