// SPDX-License-Identifier: Apache-2.0
#include "formats/evidence_stream.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats {
namespace {

constexpr std::string_view kLine =
    "node3:4242:4250 [1] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer "
    "node4<40001>\n";

Evidence streamed(std::string_view bytes, std::size_t block) {
  auto stream = stream_evidence("job.log", bytes.substr(0, 100'000), 3);
  if (!stream) return {};
  for (std::size_t at = 0; at < bytes.size(); at += block) stream->feed(bytes.substr(at, block));
  return stream->finish();
}

TEST(EvidenceStream, GivesWhatTheWholeFileGives) {
  std::string text;
  for (int i = 0; i < 50; ++i) text.append("some other line\n").append(kLine);
  const Evidence whole = read_evidence("job.log", text);
  ASSERT_EQ(whole.logs.size(), 1u);
  ASSERT_FALSE(whole.logs[0].events.empty());
  for (const std::size_t block : {7u, 1000u, 1u << 20}) {
    const Evidence evidence = streamed(text, block);
    EXPECT_EQ(evidence.path, "job.log");
    EXPECT_EQ(evidence.kind, "log");
    ASSERT_EQ(evidence.logs.size(), 1u);
    EXPECT_EQ(evidence.logs[0].lines, 100u);
    ASSERT_EQ(evidence.logs[0].events.size(), whole.logs[0].events.size());
    EXPECT_EQ(evidence.logs[0].events[0].count, 50u);
  }
}

TEST(EvidenceStream, OtherFormatsAreReadWhole) {
  EXPECT_EQ(stream_evidence("x", R"({"version": "2.9", "pg_config": {}, "entries": [)", 2), nullptr);
  EXPECT_EQ(stream_evidence("x", std::string_view("\0\1\2\3binary\0\0\0", 12), 2), nullptr);
  EXPECT_EQ(stream_evidence("x", "\xff\xfeN\0C\0", 2), nullptr);
}

TEST(EvidenceStream, ATextOfSomethingElseIsNotTaken) {
  const std::string text(2000, 'a');
  EXPECT_EQ(streamed(text, 100).kind, read_evidence("job.log", text).kind);
  EXPECT_EQ(streamed(text, 100).kind, "unknown");
}

}  // namespace
}  // namespace unhang::formats
