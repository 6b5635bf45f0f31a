// SPDX-License-Identifier: Apache-2.0
#include "cli/side_documents.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

TEST(SideDocuments, DocumentsInJson) {
  for (const char* text : {"{\n \"name\": \"x\"\n}\n", "[\n  {\"a\": 1}\n]", "\xEF\xBB\xBF{ \"a\": [\n1]}",
                           "{\"a\": {\n\"b\": \"NCCL WARN\"}}", "\n[{\n\"a\": 1}]"})
    EXPECT_TRUE(is_json_document(text)) << text;
}

TEST(SideDocuments, LinesOfLogs) {
  for (const char* text :
       {"{\"msg\": \"NCCL WARN x\"}\n{\"msg\": \"y\"}\n", "{\"msg\": \"only one\"}", "[0] NCCL INFO x\n",
        "[rank3]: x\n", "[2026-01-02 03:04:05] x\n", "{'loss': 1.0,\n 'a': 2}\n", "[1,0]<stdout>: x\n", "",
        "{", "n1:1:1 [0] NCCL INFO {\n\"a\": 1}", "[\"a\",\n", "{\"text\": \"a\nb\"}", "[{\"a\": 1}]\nx"})
    EXPECT_FALSE(is_json_document(text)) << text;
}

TEST(SideDocuments, DocumentsOfAFolder) {
  EXPECT_TRUE(why_no_log("case/README.md", "n1:1:1 [0] NCCL WARN x\n"));
  EXPECT_TRUE(why_no_log("case.tar.gz!notes.MD", "x"));
  EXPECT_TRUE(why_no_log("truth.json", "{\n\"a\": 1}"));
  EXPECT_FALSE(why_no_log("rank0.log", "n1:1:1 [0] NCCL WARN x\n"));
  EXPECT_FALSE(why_no_log(".md", "x"));
  EXPECT_FALSE(why_no_log("log.json", "{\"msg\": \"x\"}\n{\"msg\": \"y\"}\n"));
}

}  // namespace
}  // namespace unhang::cli
