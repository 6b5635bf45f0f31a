// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/py_spy.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/stacks/corpus_for_tests.h"

namespace unhang::formats::stacks {
namespace {

TEST(PySpyText, ReadsProcessesThreadsAndFrames) {
  const Evidence evidence = read_evidence("x", seed("py_spy/two.txt"));
  EXPECT_EQ(evidence.kind, "py_spy");
  EXPECT_TRUE(evidence.problems.empty());
  EXPECT_EQ(shown(evidence),
            "412 python3\n"
            "* 412 MainThread: futex_wait|libc.so.6 < wait@threading.py:355 < "
            "_next_data@torch/utils/data/dataloader.py:1448 < <module>@train.py:30\n"
            "  -1 watch gil: loop@watch.pyx:7\n"
            "413 python3\n"
            "* 413 MainThread: <module>@train.py\n");
}

TEST(PySpyText, OfArgumentsAndLocalsNothingIsKept) {
  const Evidence evidence = read_evidence("x", seed("py_spy/two.txt"));
  EXPECT_EQ(shown(evidence).find("secret"), std::string::npos);
  EXPECT_EQ(shown(evidence).find("_MultiProcessing"), std::string::npos);
}

TEST(PySpyText, ColoursAndAMissingHeaderAreNoTrouble) {
  const Evidence evidence = read_evidence("x",
                                          "Thread \x1b[1m\x1b[33m0x7F3A/77\x1b[0m (idle)\r\n    "
                                          "\x1b[32mmain\x1b[0m (\x1b[36mrun.py\x1b[0m:3)\r\n");
  EXPECT_EQ(evidence.kind, "py_spy");
  EXPECT_EQ(shown(evidence), "-1 \n  77 : main@run.py:3\n");
}

TEST(PySpyText, NativeNamesAreThoseThatPeopleKnow) {
  const Evidence evidence = read_evidence(
      "x",
      "Process 7: python\nPython v3.11.2 (/usr/bin/python3)\n\nThread 7 (active): \"MainThread\"\n"
      "    c10::Future::wait() const (libtorch.so)\n    0x7f9ba3169d71 (libc.so.6)\n    f (a.py:2)\n");
  EXPECT_EQ(shown(evidence),
            "7 python\n* 7 MainThread: c10::Future::wait|libtorch.so < ??|libc.so.6 < f@a.py:2\n");
}

TEST(PySpyText, LogsThatTalkOfProcessesAreLogs) {
  EXPECT_FALSE(sniff_py_spy_text("Process 7: started\nThread 7 (idle)\nPython version 3\n"));
  EXPECT_FALSE(sniff_py_spy_text("Thread 3 (main): \"x\"\n    f (a.py:2)\n"));
}

TEST(PySpyJson, ReadsSeveralAnswersInOneFile) {
  const Evidence evidence = read_evidence("x", seed("py_spy_json/two.json"));
  EXPECT_EQ(evidence.kind, "py_spy_json");
  EXPECT_TRUE(evidence.problems.empty());
  EXPECT_EQ(shown(evidence),
            "412 python3\n* 412 MainThread gil: ncclGroupEnd|/opt/libnccl.so.2 < train@app/train.py:12\n"
            "413 \n* 413 : \n");
}

TEST(PySpyJson, ACutAnswerIsAProblem) {
  const std::string text = seed("py_spy_json/two.json");
  for (std::size_t size = 120; size < text.find("]\n["); size += 7) {
    const Evidence evidence = read_evidence("x", std::string_view(text).substr(0, size));
    ASSERT_EQ(evidence.problems.size(), 1u) << size;
    EXPECT_EQ(evidence.problems[0].code, "damaged");
  }
}

TEST(PySpyJson, WrongTypesCountAsNotThere) {
  const Evidence evidence =
      read_evidence("x", R"([{"thread_id":1,"active":1,"pid":"x","frames":[1,{"name":2,"line":-4}]},7])");
  EXPECT_EQ(shown(evidence), "-1 \n  -1 : ??|\n");
}

}  // namespace
}  // namespace unhang::formats::stacks
