// SPDX-License-Identifier: Apache-2.0
//
// Long files that somebody takes as a stream.
#include <algorithm>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/archive_fixture.h"
#include "os/evidence_reader.h"
#include "os/file_descriptor.h"

namespace unhang::os {
namespace {

using fixture::Member;
using fixture::TempFolder;

// 9 MiB that no two blocks of share.
std::string long_text() {
  std::string out;
  for (std::uint64_t i = 0; out.size() < (9u << 20); ++i) out += "line " + std::to_string(i * i) + "\n";
  return out;
}

struct Taken {
  std::string path, bytes;
  std::size_t largest_block = 0;
  int finishes = 0;
};

class Keep final : public BlobStream {
 public:
  explicit Keep(Taken& taken) : x_taken(taken) {}
  void feed(std::string_view bytes) override {
    x_taken.bytes += bytes;
    x_taken.largest_block = std::max(x_taken.largest_block, bytes.size());
  }
  void finish() override { ++x_taken.finishes; }

 private:
  Taken& x_taken;
};

struct Reading {
  std::vector<Taken> streams;
  std::vector<std::string> blobs, asked, troubles;
  std::uint64_t bytes_read = 0;
};

Reading read_with_streams(const std::string& path, bool wanted = true, const ReadLimits& limits = {}) {
  Reading out;
  out.streams.reserve(100);
  std::atomic<std::uint64_t> bytes_read{0};
  std::string scratch;
  const ReadHooks hooks{
      .ask_for_stream = [&](const std::string& name, std::string_view first) -> std::unique_ptr<BlobStream> {
        out.asked.push_back(name);
        EXPECT_GE(first.size(), 64u << 10);
        if (!wanted) return nullptr;
        out.streams.push_back({.path = name, .bytes = {}});
        return std::make_unique<Keep>(out.streams.back());
      },
      .bytes_read = &bytes_read};
  read_evidence(
      path, limits, scratch,
      [&](const std::string&, std::string_view bytes) { out.blobs.emplace_back(bytes); },
      [&](ReadTrouble trouble) { out.troubles.push_back(trouble.code); }, hooks);
  out.bytes_read = bytes_read;
  return out;
}

void expect_streamed(const Reading& reading, const std::string& path, const std::string& text) {
  ASSERT_EQ(reading.streams.size(), 1u);
  EXPECT_TRUE(reading.streams[0].bytes == text) << "the bytes differ";
  EXPECT_EQ(reading.streams[0].path, path);
  EXPECT_EQ(reading.streams[0].finishes, 1);
  EXPECT_LE(reading.streams[0].largest_block, kStreamBeyond + (1u << 20));
  EXPECT_TRUE(reading.blobs.empty());
}

TEST(EvidenceStream, ALongPlainFileWhateverTheLimit) {
  const TempFolder folder;
  const std::string text = long_text();
  const std::string path = folder.write("log", text);
  ReadLimits limits;
  limits.max_file_bytes = 1000;
  const Reading reading = read_with_streams(path, true, limits);
  expect_streamed(reading, path, text);
  EXPECT_TRUE(reading.troubles.empty());
  EXPECT_EQ(reading.bytes_read, text.size());
}

TEST(EvidenceStream, NotWantedIsABlobAsBefore) {
  const TempFolder folder;
  const std::string text = long_text();
  const Reading reading = read_with_streams(folder.write("log", text), false);
  ASSERT_EQ(reading.blobs.size(), 1u);
  EXPECT_TRUE(reading.blobs[0] == text);
  EXPECT_EQ(reading.asked.size(), 1u);
  EXPECT_EQ(reading.bytes_read, text.size());
}

TEST(EvidenceStream, AShortFileIsNotAskedFor) {
  const TempFolder folder;
  const Reading reading = read_with_streams(folder.write("log", std::string(kStreamBeyond, 'x')));
  EXPECT_TRUE(reading.asked.empty());
  EXPECT_EQ(reading.blobs.size(), 1u);
}

TEST(EvidenceStream, OneCompressedFile) {
  const TempFolder folder;
  const std::string text = long_text();
  for (const ContentKind kind : {ContentKind::kGzip, ContentKind::kZstd}) {
    const std::string packed = fixture::compress(kind, text);
    const std::string path = folder.write("log.z", packed);
    const Reading reading = read_with_streams(path);
    expect_streamed(reading, path, text);
    EXPECT_EQ(reading.bytes_read, packed.size());
    EXPECT_TRUE(reading.troubles.empty());
  }
}

TEST(EvidenceStream, ACutCompressedFileGivesWhatCameOut) {
  const TempFolder folder;
  const std::string text = long_text();
  std::string packed = fixture::compress(ContentKind::kGzip, text);
  packed.resize(packed.size() - 1000);
  const Reading reading = read_with_streams(folder.write("log.gz", packed));
  ASSERT_EQ(reading.streams.size(), 1u);
  EXPECT_TRUE(text.starts_with(reading.streams[0].bytes));
  EXPECT_EQ(reading.streams[0].finishes, 1);
  EXPECT_EQ(reading.troubles, std::vector<std::string>{"corrupt_archive"});
}

TEST(EvidenceStream, AMemberOfAnArchive) {
  const TempFolder folder;
  const std::string text = long_text();
  const std::vector<Member> members{{"a", "short"}, {"b/log", text}, {"c", "short too"}};
  for (const std::string& packed : {fixture::make_tar(members), fixture::make_zip(members),
                                    fixture::compress(ContentKind::kGzip, fixture::make_tar(members))}) {
    const std::string path = folder.write("archive", packed);
    const Reading reading = read_with_streams(path);
    ASSERT_EQ(reading.streams.size(), 1u);
    EXPECT_TRUE(reading.streams[0].bytes == text);
    EXPECT_EQ(reading.streams[0].path, path + "!b/log");
    EXPECT_EQ(reading.streams[0].finishes, 1);
    EXPECT_EQ(reading.blobs, (std::vector<std::string>{"short", "short too"}));
    EXPECT_TRUE(reading.troubles.empty());
  }
}

TEST(EvidenceStream, StandardInput) {
  const TempFolder folder;
  const std::string text = long_text();
  const FileDescriptor file(::open(folder.write("log", text).c_str(), O_RDONLY | O_CLOEXEC));
  const fixture::SwappedDescriptor standard_input(0, file.get());
  expect_streamed(read_with_streams("-"), "-", text);
}

TEST(EvidenceStream, StandardInputThatIsNotWanted) {
  const TempFolder folder;
  const std::string text = long_text();
  const FileDescriptor file(::open(folder.write("log", text).c_str(), O_RDONLY | O_CLOEXEC));
  const fixture::SwappedDescriptor standard_input(0, file.get());
  const Reading reading = read_with_streams("-", false);
  ASSERT_EQ(reading.blobs.size(), 1u);
  EXPECT_TRUE(reading.blobs[0] == text);
}

}  // namespace
}  // namespace unhang::os
