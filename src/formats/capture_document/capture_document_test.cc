// SPDX-License-Identifier: Apache-2.0
#include "formats/capture_document/capture_document.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"

namespace unhang::formats {
namespace {

TEST(CaptureDocument, IsKnownAndNoLog) {
  const auto evidence = read_evidence("nic.json",
                                      "{\n \"schema\": \"unhang.nic_counters/1\",\n \"ports\": [{\"state\": "
                                      "\"1: DOWN\", \"x\": \"NCCL WARN \"}]}");
  EXPECT_EQ(evidence.kind, "capture_document");
  EXPECT_TRUE(evidence.problems.empty());
  EXPECT_TRUE(evidence.logs.empty());
  EXPECT_EQ(read_evidence("s", R"({"schema":"unhang.sockets/2"})").kind, "capture_document")
      << "a later number";
  EXPECT_EQ(read_evidence("s", R"({"schema":"unhang.system/1"})").kind, "capture_document");
}

TEST(CaptureDocument, OthersAreNot) {
  for (const char* other :
       {R"({"schema":"unhang.verdict/1"})", R"({"schema":"unhang.systems/1"})", R"({"a":"unhang.system/1"})",
        R"(["schema","unhang.system/1"])", "{", "{\"schema\"", ""})
    EXPECT_FALSE(capture_document::sniff(other)) << other;
}

}  // namespace
}  // namespace unhang::formats
