// SPDX-License-Identifier: Apache-2.0
//
// Archives that are cut off, damaged, locked or made to hurt.
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "os/archive_fixture.h"
#include "os/read_outcome.h"

namespace unhang::os {
namespace {

using fixture::Member;
using fixture::read_all;
using fixture::ReadOutcome;
using fixture::TempFolder;
using Texts = std::vector<std::string>;

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

std::string gzip(std::string_view bytes) {
  return fixture::compress(ContentKind::kGzip, bytes);
}

const std::vector<Member>& some_members() {
  static const std::vector<Member> kMembers = {
      {"a", noise(700, 1)}, {"b", noise(1500, 2)}, {"c", noise(300, 3)}};
  return kMembers;
}

// The blobs are the first of `members`, whole and in order, nothing else. Gives how many.
std::size_t expect_first_members(const ReadOutcome& outcome, const std::vector<Member>& members) {
  // Too little of a tar came out of its compression to know it as one.
  if (outcome.blobs.size() == 1 && outcome.blobs[0].first == "cut" && outcome.blobs[0].second.size() < 512)
    return 0;
  EXPECT_LE(outcome.blobs.size(), members.size());
  for (std::size_t i = 0; i < std::min(outcome.blobs.size(), members.size()); ++i) {
    EXPECT_EQ(outcome.blobs[i].first, "cut!" + members[i].name);
    EXPECT_TRUE(outcome.blobs[i].second == members[i].bytes);
  }
  return outcome.blobs.size();
}

// Reads `bytes` cut at every `step`.
void expect_cuts_are_survived(const std::string& bytes, const std::vector<Member>& members,
                              std::size_t step) {
  const TempFolder folder;
  std::size_t most = 0;
  for (std::size_t size = 513; size < bytes.size(); size += step) {
    const ReadOutcome outcome = read_all(folder.write("cut", bytes.substr(0, size)));
    most = std::max(most, expect_first_members(outcome, members));
    ASSERT_LE(outcome.troubles.size(), 1u) << size;
    // A tar that ends between two members cannot be told from a whole one.
    if (outcome.blobs.size() < members.size() && size % 512 != 0) {
      ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"}) << size;
    }
  }
  EXPECT_GE(most, 2u);
}

TEST(DamagedArchive, ACutArchiveGivesTheMembersBeforeTheCutAndOneTrouble) {
  const std::string tar = fixture::make_tar(some_members());
  expect_cuts_are_survived(tar, some_members(), 61);
  expect_cuts_are_survived(gzip(tar), some_members(), 29);
  expect_cuts_are_survived(fixture::make_zip(some_members()), some_members(), 7);
  // zstd gives blocks of 128 KiB or nothing.
  const std::vector<Member> large = {
      {"a", noise(300'000, 1)}, {"b", noise(300'000, 2)}, {"c", noise(300'000, 3)}};
  expect_cuts_are_survived(fixture::compress(ContentKind::kZstd, fixture::make_tar(large)), large, 20'011);
}

TEST(DamagedArchive, TheTroubleSaysHowFarItWas) {
  const TempFolder folder;
  const std::string tar = fixture::make_tar(some_members());
  const ReadOutcome outcome = read_all(folder.write("cut", tar.substr(0, 512 + 1024 + 512 + 1000)));
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_EQ(outcome.troubles[0].path, "cut!b");
  EXPECT_EQ(outcome.troubles[0].bytes_lost, 500u);
  EXPECT_NE(outcome.troubles[0].text.find("1 members were read before it"), std::string::npos)
      << outcome.troubles[0].text;
}

TEST(DamagedArchive, ACutCompressedFileGivesWhatCameOutOfIt) {
  const TempFolder folder;
  const std::string text = noise(50'000, 4);
  for (const ContentKind kind : {ContentKind::kGzip, ContentKind::kZstd}) {
    const std::string bytes = fixture::compress(kind, text);
    const ReadOutcome outcome = read_all(folder.write("dump.gz", bytes.substr(0, bytes.size() - 100)));
    ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"});
    if (kind == ContentKind::kZstd) continue;  // gives whole blocks only
    ASSERT_EQ(outcome.blobs.size(), 1u);
    EXPECT_GT(outcome.blobs[0].second.size(), 49'000u);
    EXPECT_TRUE(text.starts_with(outcome.blobs[0].second));
  }
}

TEST(DamagedArchive, AWrongGzipChecksumIsToldAlsoBehindATar) {
  const TempFolder folder;
  for (const std::string& inside : {std::string("some text"), fixture::make_tar(some_members())}) {
    std::string bytes = gzip(inside);
    bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
    const ReadOutcome outcome = read_all(folder.write("cut", bytes));
    ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"});
    EXPECT_EQ(outcome.blobs.size(), inside == "some text" ? 1u : 3u);
  }
}

TEST(DamagedArchive, MembersBehindADamagedTarHeaderAreFoundAgain) {
  const TempFolder folder;
  std::string tar = fixture::make_tar(some_members());
  tar[512 + 1024 + 20] = 'X';  // in the name field of the second header
  const ReadOutcome outcome = read_all(folder.write("a", tar));
  EXPECT_EQ(outcome.paths(), (Texts{"a!a", "a!c"}));
  ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"});
  EXPECT_EQ(outcome.troubles[0].bytes_lost, 4 * 512u);  // the header and three blocks of data
}

TEST(DamagedArchive, AWrongZipChecksumIsToldForItsMember) {
  const TempFolder folder;
  std::string zip = fixture::make_zip(some_members());
  const std::size_t at = zip.find(some_members()[1].bytes.substr(100, 16));  // noise is stored as it is
  ASSERT_NE(at, std::string::npos);
  zip[at] = static_cast<char>(zip[at] ^ 1);
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_EQ(outcome.paths(), (Texts{"a!a", "a!b", "a!c"}));
  ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"});
  EXPECT_EQ(outcome.troubles[0].path, "a!b");
}

TEST(DamagedArchive, AZipMemberThatCannotBeUnpackedDoesNotHideTheOthers) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i) + "\n";
  std::string zip = fixture::make_zip({{"a", "first"}, {"b", text}, {"c", "last"}});
  const std::size_t at =
      zip.find("PK\x03\x04", 4);  // the local header of b; its data are some 50 bytes behind it
  zip.replace(at + 100, 200, std::string(200, '\xff'));
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_EQ(outcome.paths(), (Texts{"a!a", "a!c"}));
  ASSERT_EQ(outcome.codes(), Texts{"corrupt_archive"});
  EXPECT_EQ(outcome.troubles[0].path, "a!b");
  EXPECT_EQ(outcome.troubles[0].text.find("behind it"), std::string::npos);
}

TEST(DamagedArchive, AnyFlippedByteIsSurvivedAndAChecksumTellsIt) {
  const TempFolder folder;
  const std::string tar =
      fixture::make_tar({{"a", "text"}, {"b.zip", fixture::make_zip({{"c", "text"}, {"d", "more"}})}});
  ReadLimits limits;
  limits.max_file_bytes = 1 << 20;
  limits.max_expanded_bytes = 1 << 20;
  for (const std::string& bytes :
       {tar, fixture::make_zip({{"a.tar", tar}}), fixture::compress(ContentKind::kZstd, tar), gzip(tar),
        fixture::compress(ContentKind::kXz, tar), fixture::compress(ContentKind::kBzip2, tar)}) {
    const ContentKind kind = content_kind(bytes);
    const ReadOutcome whole = read_all(folder.write("a", bytes), limits);
    EXPECT_TRUE(whole.troubles.empty());
    for (std::size_t at = 0; at < bytes.size(); at += 1 + at / 100) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      const ReadOutcome outcome = read_all(folder.write("a", damaged), limits);
      const bool checked =
          kind != ContentKind::kTar && kind != ContentKind::kZip && kind != ContentKind::kZstd;
      if (checked && content_kind(damaged) == kind && outcome.troubles.empty()) {
        EXPECT_EQ(outcome.blobs, whole.blobs) << kind_name(kind) << " at " << at;
      }
    }
  }
}

TEST(DamagedArchive, EncryptedMembersAreNamedOnce) {
  const TempFolder folder;
  const std::string zip = fixture::make_zip({{"secret1", "12345"}, {"secret2", "67890"}}, "password");
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_TRUE(outcome.blobs.empty());
  ASSERT_EQ(outcome.codes(), Texts{"encrypted"});
  EXPECT_NE(outcome.troubles[0].text.find("2 members are encrypted, the first is secret1"),
            std::string::npos);
}

// The local header and the directory of a stored member say "lzma" here: method 14 at the same place.
TEST(Bomb, ZipMethodsThatClaimMuchMemoryAreNotRead) {
  const TempFolder folder;
  std::string zip = fixture::make_zip({{"a", "first"}, {"b", "second"}});
  zip[zip.find("PK\x03\x04") + 8] = 14;
  zip[zip.find("PK\x01\x02") + 10] = 14;
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_EQ(outcome.paths(), Texts{"a!b"});
  ASSERT_EQ(outcome.codes(), Texts{"unreadable"});
  EXPECT_EQ(outcome.troubles[0].path, "a!a");
  EXPECT_EQ(outcome.troubles[0].text,
            "packed by lzma, which is not read: unpack the archive and give the files");
}

// A directory that may be that large is not loaded: the members are found from the front, one by one.
TEST(Bomb, AHugeZipDirectoryIsNotLoaded) {
  const TempFolder folder;
  std::string zip = fixture::make_zip({{"a", noise(33 << 20, 8)}, {"b", "second"}});
  zip.replace(zip.rfind("PK\x05\x06") + 16, 4, std::string(4, '\0'));  // "the directory starts at byte 0"
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_EQ(outcome.paths(), (Texts{"a!a", "a!b"}));
  EXPECT_TRUE(outcome.troubles.empty());
}

TEST(Bomb, AGzipOfZerosStops) {
  const TempFolder folder;
  const std::string bomb = gzip(std::string(64 << 20, '\0'));
  const ReadOutcome outcome = read_all(folder.write("bomb.gz", bomb));
  EXPECT_TRUE(outcome.blobs.empty());
  EXPECT_EQ(outcome.codes(), Texts{"bomb"});
  // A small file may compress as well as it likes.
  EXPECT_EQ(read_all(folder.write("small.gz", gzip(std::string(8 << 20, '\0')))).blobs.size(), 1u);
}

TEST(Bomb, TenGigabytesCostNeitherTimeNorMemory) {
  const TempFolder folder;
  const std::string unit = gzip(std::string(16 << 20, '\0'));
  std::string bomb;
  for (int i = 0; i < 640; ++i) bomb += unit;
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_all(folder.write("a.gz", bomb)).codes(), Texts{"bomb"});
  const std::string zip = fixture::make_zip({{"in.gz", bomb}, {"good", "text"}});
  const ReadOutcome nested = read_all(folder.write("a.zip", zip));
  EXPECT_EQ(nested.codes(), Texts{"bomb"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 512 << 10);  // KiB
}

TEST(Bomb, LayersOfCompressionAddUp) {
  const TempFolder folder;
  const std::string inner = gzip(gzip(std::string(64 << 20, '\0')));
  ASSERT_LT(inner.size(), 2000u);
  EXPECT_EQ(read_all(folder.write("a", inner)).codes(), Texts{"bomb"});
  EXPECT_EQ(
      read_all(folder.write("a", gzip(fixture::make_tar({{"b", std::string(64 << 20, '\0')}})))).codes(),
      Texts{"bomb"});
}

// Nothing comes out of it at all, only work.
TEST(Bomb, EndlessEmptyStreamsInsideAStreamStop) {
  const TempFolder folder;
  const std::string empty = gzip("");
  std::string many;
  while (many.size() < 64 << 20) many += empty;
  EXPECT_EQ(read_all(folder.write("a", gzip(many))).codes(), Texts{"bomb"});
}

TEST(Bomb, AZipMemberDoesNotHideTheOthers) {
  const TempFolder folder;
  const std::string ballast = noise(1 << 20, 5);
  const std::string zip =
      fixture::make_zip({{"bomb", std::string(64 << 20, '\0')}, {"ballast", ballast}, {"good", "text"}});
  const ReadOutcome outcome = read_all(folder.write("a", zip));
  EXPECT_EQ(outcome.paths(), (Texts{"a!ballast", "a!good"}));
  ASSERT_EQ(outcome.codes(), Texts{"bomb"});
  EXPECT_EQ(outcome.troubles[0].path, "a!bomb");
}

TEST(Bomb, HolesOfSparseMembersAreCharged) {
  const TempFolder folder;
  const std::string small = fixture::make_sparse_tar("core", 1 << 20, "end");
  const ReadOutcome fine = read_all(folder.write("a", small));
  ASSERT_EQ(fine.blobs.size(), 1u);
  EXPECT_EQ(fine.blobs[0].second, std::string((1 << 20) - 3, '\0') + "end");
  EXPECT_EQ(read_all(folder.write("a", fixture::make_sparse_tar("core", 64 << 20, "end"))).codes(),
            Texts{"bomb"});
  ReadLimits limits;
  limits.max_file_bytes = 1000;
  const ReadOutcome large = read_all(folder.write("a", small), limits);
  EXPECT_EQ(large.codes(), Texts{"too_large"});
  EXPECT_EQ(large.troubles[0].bytes_lost, 1u << 20);
}

TEST(Limits, TooLargeMembersArePassedOver) {
  const TempFolder folder;
  ReadLimits limits;
  limits.max_file_bytes = 1000;
  const std::vector<Member> members = {{"small", "s"}, {"large", noise(5000, 6)}, {"after", "a"}};
  for (const std::string& bytes :
       {fixture::make_tar(members), fixture::make_zip(members), gzip(fixture::make_tar(members))}) {
    const ReadOutcome outcome = read_all(folder.write("x", bytes), limits);
    EXPECT_EQ(outcome.paths(), (Texts{"x!small", "x!after"}));
    ASSERT_EQ(outcome.codes(), Texts{"too_large"});
    EXPECT_EQ(outcome.troubles[0].path, "x!large");
    EXPECT_EQ(outcome.troubles[0].bytes_lost, 5000u);
  }
  const ReadOutcome single = read_all(folder.write("x", gzip(noise(5000, 6))), limits);
  EXPECT_TRUE(single.blobs.empty());
  EXPECT_EQ(single.codes(), Texts{"too_large"});
}

TEST(Limits, ExpandedBytesAreCountedOverTheWholeFile) {
  const TempFolder folder;
  ReadLimits limits;
  limits.max_expanded_bytes = 10'000;
  const std::vector<Member> members = {
      {"a", noise(4000, 1)}, {"b", noise(4000, 2)}, {"c", noise(4000, 3)}, {"d", "x"}};
  const ReadOutcome outcome = read_all(folder.write("x", fixture::make_zip(members)), limits);
  EXPECT_EQ(outcome.paths(), (Texts{"x!a", "x!b"}));
  EXPECT_EQ(outcome.codes(), Texts{"too_large"});
  EXPECT_EQ(outcome.troubles[0].path, "x");
  // A tar that is not compressed expands nothing.
  EXPECT_EQ(read_all(folder.write("x", fixture::make_tar(members)), limits).blobs.size(), 4u);
}

TEST(Limits, MembersAreCountedOverTheWholeFile) {
  const TempFolder folder;
  ReadLimits limits;
  limits.max_members = 4;
  const std::string inner = fixture::make_zip({{"1", "x"}, {"2", "x"}, {"3", "x"}});
  const std::string outer = fixture::make_tar({{"a.zip", inner}, {"b.zip", inner}, {"c", "x"}});
  const ReadOutcome outcome = read_all(folder.write("x", outer), limits);
  EXPECT_EQ(outcome.paths(), (Texts{"x!a.zip!1", "x!a.zip!2", "x!a.zip!3"}));
  EXPECT_EQ(outcome.codes(), Texts{"too_many_members"});
}

TEST(Limits, NestingIsBounded) {
  const TempFolder folder;
  std::string bytes = "text";
  std::string path = "x";
  for (int i = 0; i < 4; ++i) bytes = fixture::make_zip({{"in", bytes}, {"side", "s"}});
  for (int i = 0; i < 4; ++i) path += "!in";
  ReadOutcome outcome = read_all(folder.write("x", bytes));
  EXPECT_TRUE(outcome.troubles.empty());
  ASSERT_EQ(outcome.blobs.size(), 5u);
  EXPECT_EQ(outcome.blobs[0].first, path);
  const ReadOutcome deeper = read_all(folder.write("x", fixture::make_tar({{"in", bytes}})));
  EXPECT_EQ(deeper.codes(), Texts{"nested_too_deep"});
  EXPECT_EQ(deeper.troubles[0].path, "x!in!in!in!in");
  EXPECT_EQ(deeper.blobs.size(), 3u);  // the side members above it
  EXPECT_EQ(read_all(folder.write("x", gzip(gzip(gzip(gzip("text")))))).blobs.size(), 1u);
  EXPECT_EQ(read_all(folder.write("x", gzip(gzip(gzip(gzip(gzip("text"))))))).codes(),
            Texts{"nested_too_deep"});
}

}  // namespace
}  // namespace unhang::os
