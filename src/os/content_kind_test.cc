// SPDX-License-Identifier: Apache-2.0
#include "os/content_kind.h"

#include <string>

#include <gtest/gtest.h>

#include "os/archive_fixture.h"

namespace unhang::os {
namespace {

using namespace std::string_literals;

TEST(ContentKind, KnowsWhatItsWritersMake) {
  for (const ContentKind kind :
       {ContentKind::kGzip, ContentKind::kZstd, ContentKind::kBzip2, ContentKind::kXz}) {
    EXPECT_EQ(content_kind(fixture::compress(kind, "some text")), kind) << kind_name(kind);
    EXPECT_EQ(content_kind(fixture::compress(kind, "")), kind) << kind_name(kind);
  }
  for (const auto flavour : {fixture::TarFlavour::kUstar, fixture::TarFlavour::kPax,
                             fixture::TarFlavour::kGnu, fixture::TarFlavour::kV7}) {
    EXPECT_EQ(content_kind(fixture::make_tar({{"dump_0", "x"}}, flavour)), ContentKind::kTar);
  }
  EXPECT_EQ(content_kind(fixture::make_zip({{"dump_0", "x"}})), ContentKind::kZip);
  EXPECT_EQ(content_kind(fixture::make_zip({})), ContentKind::kZip);
}

TEST(ContentKind, KnowsParallelZstdByTheFrameBehindTheSkippableOne) {
  const std::string skippable = "\x50\x2a\x4d\x18\x04\0\0\0size"s;
  EXPECT_EQ(content_kind(skippable + fixture::compress(ContentKind::kZstd, "x")), ContentKind::kZstd);
  EXPECT_EQ(content_kind(skippable + "lz4 uses the same mark"), ContentKind::kPlain);
}

TEST(ContentKind, TakesNoEvidenceForAnArchive) {
  const std::string pickle = "\x80\x02}q\0(X\x07\0\0\0versionq\x01X\x04\0\0\0"s + "2.10q\x02u."s;
  EXPECT_EQ(content_kind(pickle), ContentKind::kPlain);
  EXPECT_EQ(content_kind(pickle + std::string(600, 'x')), ContentKind::kPlain);
  EXPECT_EQ(content_kind("{\"version\": \"2.10\", \"entries\": []}"), ContentKind::kPlain);
  EXPECT_EQ(content_kind(""), ContentKind::kPlain);
  EXPECT_EQ(content_kind("PK"), ContentKind::kPlain);
  EXPECT_EQ(content_kind("BZh9 is how a line may begin"), ContentKind::kPlain);
  EXPECT_EQ(content_kind("\x1f\x8b\x08\xff reserved flags"s), ContentKind::kPlain);
  EXPECT_EQ(content_kind(std::string(1024, '\0')), ContentKind::kPlain);
  EXPECT_EQ(content_kind(std::string(1024, ' ')), ContentKind::kPlain);
  EXPECT_EQ(content_kind(std::string(1024, '0')), ContentKind::kPlain);
}

TEST(ContentKind, TextThatSpeaksOfUstarAtItsPlaceIsNoTar) {
  std::string text(1024, 'a');
  text.replace(257, 5, "ustar");
  EXPECT_EQ(content_kind(text), ContentKind::kPlain);
}

TEST(ContentKind, OldTarNeedsARightChecksum) {
  std::string tar = fixture::make_tar({{"dump_0", "x"}}, fixture::TarFlavour::kV7);
  ASSERT_EQ(content_kind(tar), ContentKind::kTar);
  tar[0] = 'D';
  EXPECT_EQ(content_kind(tar), ContentKind::kPlain);
}

TEST(ContentKind, DamagedTarWithItsMagicIsStillATar) {
  std::string tar = fixture::make_tar({{"dump_0", "x"}});
  tar[0] = 'D';
  EXPECT_EQ(content_kind(tar), ContentKind::kTar);
  EXPECT_EQ(content_kind(tar.substr(0, 511)), ContentKind::kPlain);
}

}  // namespace
}  // namespace unhang::os
