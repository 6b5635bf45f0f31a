// SPDX-License-Identifier: Apache-2.0
#include "os/evidence_reader.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/archive_fixture.h"
#include "os/file_descriptor.h"
#include "os/read_outcome.h"

namespace unhang::os {
namespace {

using fixture::Member;
using fixture::read_all;
using fixture::TempFolder;
using Blobs = std::vector<std::pair<std::string, std::string>>;
using Texts = std::vector<std::string>;
using namespace std::string_literals;

TEST(ReadEvidence, PlainFilesComeWholeAndEmptyOnesToo) {
  const TempFolder folder;
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(read_all(folder.write("a", "abc\0def"s)).blobs, (Blobs{{"a", "abc\0def"s}}));
  EXPECT_EQ(read_all(folder.write("empty", "")).blobs, (Blobs{{"empty", ""}}));
  const auto outcome = read_all(folder.write("large", large));
  EXPECT_EQ(outcome.blobs, (Blobs{{"large", large}}));
  EXPECT_TRUE(outcome.troubles.empty());
}

TEST(ReadEvidence, SizesAroundTheFirstReadAreExact) {
  const TempFolder folder;
  for (const std::size_t size : {(1u << 20) - 1, 1u << 20, (1u << 20) + 1, 2u << 20}) {
    const std::string bytes(size, 'y');
    EXPECT_EQ(read_all(folder.write("f", bytes)).blobs, (Blobs{{"f", bytes}})) << size;
  }
}

TEST(ReadEvidence, ScratchIsKeptAndNeverShowsOldBytes) {
  const TempFolder folder;
  const std::string first = folder.write("first", std::string(100'000, 'x'));
  const std::string second = folder.write("second", "short");
  std::string scratch;
  const OnTrouble no_trouble = [](const ReadTrouble& trouble) { ADD_FAILURE() << trouble.text; };
  read_evidence(
      first, {}, scratch, [](const std::string&, std::string_view) {}, no_trouble);
  const char* const kept = scratch.data();
  std::string seen;
  read_evidence(
      second, {}, scratch,
      [&](const std::string&, std::string_view bytes) {
        EXPECT_EQ(bytes.data(), kept);
        seen = bytes;
      },
      no_trouble);
  EXPECT_EQ(seen, "short");
}

TEST(ReadEvidence, FilesThatClaimToBeEmptyAreReadAnyway) {
  const auto outcome = read_all("/proc/self/status");
  ASSERT_EQ(outcome.blobs.size(), 1u);
  EXPECT_NE(outcome.blobs[0].second.find("VmRSS"), std::string::npos);
}

TEST(ReadEvidence, WhatIsNoReadableFileIsToldAndDoesNotBlock) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {folder.path("pipe"), folder.path("missing"), folder.path(""), folder.write("f", "") + "/x"}) {
    const auto outcome = read_all(path);
    EXPECT_TRUE(outcome.blobs.empty());
    EXPECT_EQ(outcome.codes(), Texts{"unreadable"}) << path;
  }
  EXPECT_EQ(read_all(folder.path("missing")).troubles[0].text, "No such file or directory");
}

TEST(ReadEvidence, TooLargePlainFileIsNotDelivered) {
  const TempFolder folder;
  ReadLimits limits;
  limits.max_file_bytes = 1000;
  EXPECT_EQ(read_all(folder.write("fits", std::string(1000, 'x')), limits).blobs.size(), 1u);
  for (const std::size_t size : {1001, 5'000'000}) {
    const auto outcome = read_all(folder.write("large", std::string(size, 'x')), limits);
    EXPECT_TRUE(outcome.blobs.empty());
    ASSERT_EQ(outcome.codes(), Texts{"too_large"});
    EXPECT_EQ(outcome.troubles[0].bytes_lost, size);
  }
}

// A sparse file costs nothing on disk; it must cost no memory either when it is over the limit.
TEST(ReadEvidence, HugeSparseFileIsRefusedUnread) {
  const TempFolder folder;
  const std::string path = folder.write("sparse", "x");
  ASSERT_EQ(::truncate(path.c_str(), 1ll << 40), 0);
  const auto outcome = read_all(path);
  EXPECT_TRUE(outcome.blobs.empty());
  ASSERT_EQ(outcome.codes(), Texts{"too_large"});
  EXPECT_EQ(outcome.troubles[0].bytes_lost, 1ull << 40);
}

TEST(ReadEvidence, AFileThatShrinksAndGrowsMeanwhileDoesNoHarm) {
  const TempFolder folder;
  const std::string path = folder.write("moving", std::string(4'000'000, 'a'));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    while (!done) {
      (void)::truncate(path.c_str(), 10);
      (void)::truncate(path.c_str(), 6'000'000);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto outcome = read_all(path);
    ASSERT_EQ(outcome.blobs.size(), 1u);
    const std::string& bytes = outcome.blobs[0].second;
    EXPECT_GE(bytes.size(), 10u);
    EXPECT_LE(bytes.size(), 6'000'000u);
    EXPECT_EQ(bytes.find_first_not_of("a\0"s), std::string::npos);
  }
  done = true;
  writer.join();
}

TEST(ReadEvidence, MembersOfEveryKindOfArchiveComeInStoredOrder) {
  const TempFolder folder;
  const std::vector<Member> members = {{"z/dump_1", "one"}, {"dump_0", "zero\0"s}, {"empty", ""}};
  const std::string tar = fixture::make_tar(members);
  const std::vector<std::pair<std::string, std::string>> archives = {
      {"ustar", tar},
      {"pax", fixture::make_tar(members, fixture::TarFlavour::kPax)},
      {"gnu", fixture::make_tar(members, fixture::TarFlavour::kGnu)},
      {"v7", fixture::make_tar(members, fixture::TarFlavour::kV7)},
      {"gzip", fixture::compress(ContentKind::kGzip, tar)},
      {"zstd", fixture::compress(ContentKind::kZstd, tar)},
      {"bzip2", fixture::compress(ContentKind::kBzip2, tar)},
      {"xz", fixture::compress(ContentKind::kXz, tar)},
      {"zip", fixture::make_zip(members)},
  };
  for (const auto& [what, bytes] : archives) {
    const auto outcome = read_all(folder.write("a.log", bytes));  // the name says nothing
    EXPECT_EQ(outcome.blobs,
              (Blobs{{"a.log!z/dump_1", "one"}, {"a.log!dump_0", "zero\0"s}, {"a.log!empty", ""}}))
        << what;
    EXPECT_TRUE(outcome.troubles.empty()) << what << ": " << outcome.troubles[0].text;
  }
}

TEST(ReadEvidence, TextWithTheNameOfAnArchiveIsText) {
  const TempFolder folder;
  EXPECT_EQ(read_all(folder.write("a.tar.gz", "hello")).blobs, (Blobs{{"a.tar.gz", "hello"}}));
}

TEST(ReadEvidence, CompressedSingleFilesKeepTheirPath) {
  const TempFolder folder;
  const std::string text(700'000, 'q');
  for (const ContentKind kind :
       {ContentKind::kGzip, ContentKind::kZstd, ContentKind::kBzip2, ContentKind::kXz}) {
    const auto outcome = read_all(folder.write("dump_3.gz", fixture::compress(kind, text)));
    EXPECT_EQ(outcome.blobs, (Blobs{{"dump_3.gz", text}})) << kind_name(kind);
    const auto empty = read_all(folder.write("dump_3.gz", fixture::compress(kind, "")));
    EXPECT_EQ(empty.blobs, (Blobs{{"dump_3.gz", ""}})) << kind_name(kind);
    const std::string twice = fixture::compress(kind, "one ") + fixture::compress(kind, "two");
    const auto joined = read_all(folder.write("dump_3.gz", twice));
    EXPECT_EQ(joined.blobs, (Blobs{{"dump_3.gz", "one two"}})) << kind_name(kind);
    EXPECT_TRUE(outcome.troubles.empty() && empty.troubles.empty() && joined.troubles.empty())
        << kind_name(kind);
  }
}

// Streams that begin and end at every place of the blocks in which a file is read.
TEST(ReadEvidence, ManyTinyStreamsAreOneFile) {
  const TempFolder folder;
  std::string bytes;
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    bytes += fixture::compress(ContentKind::kGzip, std::to_string(i)).substr(0);
    text += std::to_string(i);
  }
  const auto outcome = read_all(folder.write("log.gz", bytes));
  EXPECT_EQ(outcome.blobs, (Blobs{{"log.gz", text}}));
  EXPECT_TRUE(outcome.troubles.empty());
}

TEST(ReadEvidence, PaddingBehindCompressedDataIsFineOtherThingsAreTold) {
  const TempFolder folder;
  const std::string gzip = fixture::compress(ContentKind::kGzip, "text");
  const auto padded = read_all(folder.write("a.gz", gzip + std::string(1000, '\0')));
  EXPECT_EQ(padded.blobs, (Blobs{{"a.gz", "text"}}));
  EXPECT_TRUE(padded.troubles.empty());
  const auto followed = read_all(folder.write("a.gz", gzip + "something else that is long enough"));
  EXPECT_EQ(followed.blobs, (Blobs{{"a.gz", "text"}}));
  EXPECT_EQ(followed.codes(), Texts{"corrupt_archive"});
}

TEST(ReadEvidence, OnlyRegularMembersAreRead) {
  const TempFolder folder;
  const std::string tar = fixture::make_tar({{"d", "", Member::Type::kFolder},
                                             {"d/file", "x"},
                                             {"d/link", "/etc/passwd", Member::Type::kLink},
                                             {"d/hard", "d/file", Member::Type::kHardLink}});
  const auto outcome = read_all(folder.write("a.tar", tar));
  EXPECT_EQ(outcome.blobs, (Blobs{{"a.tar!d/file", "x"}}));
  EXPECT_TRUE(outcome.troubles.empty());
}

TEST(ReadEvidence, HostileMemberNamesAreMadePrintable) {
  const TempFolder folder;
  const std::vector<Member> members = {
      {"../../etc/passwd", "1"}, {"a\x1b[31mb\n", "2"}, {"gr\xc3\xbc\xc3\x9f", "3"}, {"bad\xff", "4"}};
  const Texts names = {"a!../../etc/passwd", "a!a\\x1b[31mb\\x0a", "a!gr\xc3\xbc\xc3\x9f", "a!bad\\xff"};
  for (const auto flavour :
       {fixture::TarFlavour::kUstar, fixture::TarFlavour::kPax, fixture::TarFlavour::kGnu}) {
    EXPECT_EQ(read_all(folder.write("a", fixture::make_tar(members, flavour))).paths(), names);
  }
  EXPECT_EQ(read_all(folder.write("a", fixture::make_zip(members))).paths(), names);
}

TEST(ReadEvidence, NestedArchivesAreFollowed) {
  const TempFolder folder;
  const std::string zip = fixture::make_zip(
      {{"deep", "deep text"}, {"deeper.gz", fixture::compress(ContentKind::kGzip, "deepest")}});
  const std::string tar = fixture::make_tar({{"before", "b"},
                                             {"in.zip", zip},
                                             {"dump_3.zst", fixture::compress(ContentKind::kZstd, "three")},
                                             {"after", "a"}});
  const auto outcome = read_all(folder.write("a.tgz", fixture::compress(ContentKind::kGzip, tar)));
  EXPECT_EQ(outcome.blobs, (Blobs{{"a.tgz!before", "b"},
                                  {"a.tgz!in.zip!deep", "deep text"},
                                  {"a.tgz!in.zip!deeper.gz", "deepest"},
                                  {"a.tgz!dump_3.zst", "three"},
                                  {"a.tgz!after", "a"}}));
  EXPECT_TRUE(outcome.troubles.empty());
  const auto zip_in_gzip = read_all(folder.write("b", fixture::compress(ContentKind::kGzip, zip)));
  EXPECT_EQ(zip_in_gzip.paths(), (Texts{"b!deep", "b!deeper.gz"}));
}

TEST(ReadEvidence, StdinIsReadWholeAndByContent) {
  const TempFolder folder;
  for (const auto& [bytes, blobs] : std::vector<std::pair<std::string, Blobs>>{
           {"text", {{"-", "text"}}},
           {"", {{"-", ""}}},
           {fixture::make_tar({{"a", "1"}, {"b.gz", fixture::compress(ContentKind::kGzip, "2")}}),
            {{"-!a", "1"}, {"-!b.gz", "2"}}},
           {fixture::make_zip({{"a", "1"}}), {{"-!a", "1"}}},
           {fixture::compress(ContentKind::kZstd, "z"), {{"-", "z"}}}}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const FileDescriptor reading(ends[0]);
    std::thread writer([fd = ends[1], &content = bytes] {
      const FileDescriptor writing(fd);
      for (const char& byte : content) EXPECT_EQ(::write(writing.get(), &byte, 1), 1);
    });
    const fixture::SwappedDescriptor swapped(STDIN_FILENO, reading.get());
    EXPECT_EQ(read_all("-").blobs, blobs);
    writer.join();
  }
}

TEST(ReadEvidence, EndlessStdinStopsAtTheLimit) {
  const FileDescriptor zeros(::open("/dev/zero", O_RDONLY));
  const fixture::SwappedDescriptor swapped(STDIN_FILENO, zeros.get());
  ReadLimits limits;
  limits.max_file_bytes = 5'000'000;
  const auto outcome = read_all("-", limits);
  EXPECT_TRUE(outcome.blobs.empty());
  EXPECT_EQ(outcome.codes(), Texts{"too_large"});
}

TEST(ReadEvidence, WhatTheCallerThrowsGetsThrough) {
  const TempFolder folder;
  const std::string tar = folder.write("a.tar", fixture::make_tar({{"a", "1"}}));
  std::string scratch;
  EXPECT_THROW(read_evidence(
                   tar, {}, scratch, [](const std::string&, std::string_view) { throw std::bad_alloc(); },
                   [](const ReadTrouble&) {}),
               std::bad_alloc);
}

}  // namespace
}  // namespace unhang::os
