// SPDX-License-Identifier: Apache-2.0
#include "formats/stacks/native_backtrace.h"

#include <gtest/gtest.h>

#include "formats/catalogue.h"
#include "formats/stacks/corpus_for_tests.h"
#include "formats/stacks/native_frame.h"

namespace unhang::formats::stacks {
namespace {

TEST(NativeBacktrace, ReadsWhatGdbPrintsOfALiveInterpreter) {
  const Evidence evidence = read_evidence("x", seed("native_backtrace/gdb.txt"));
  EXPECT_EQ(evidence.kind, "native_backtrace");
  EXPECT_TRUE(evidence.problems.empty());
  ASSERT_EQ(evidence.process_samples.size(), 1u);
  const model::ProcessSample& process = evidence.process_samples[0];
  EXPECT_EQ(process.pid, 30118);
  EXPECT_EQ(process.program, "python3");
  ASSERT_EQ(process.threads.size(), 2u);
  EXPECT_EQ(process.threads[0].thread, 30160);
  EXPECT_FALSE(process.threads[0].is_main);
  EXPECT_EQ(process.threads[0].frames.front().function, "__GI___clock_nanosleep");
  EXPECT_EQ(process.threads[0].frames.front().line, 48);
  EXPECT_EQ(process.threads[0].frames.back().function, "clone3");
  EXPECT_EQ(process.threads[0].frames.size(), 19u);
  EXPECT_TRUE(process.threads[1].is_main);
}

TEST(NativeBacktrace, PythonStandsInPlaceOfTheInterpreter) {
  const Evidence evidence = read_evidence("x", seed("native_backtrace/py_bt.txt"));
  EXPECT_EQ(shown(evidence),
            "412 python3\n* 412 python3: ??|/lib/x86_64-linux-gnu/libcuda.so.1 < "
            "at::native::copy<…>|/opt/libtorch_cuda.so < step@/opt/train.py:12\n");
}

TEST(NativeBacktrace, ReadsEuStack) {
  const Evidence evidence = read_evidence("x", seed("native_backtrace/eu_stack.txt"));
  EXPECT_EQ(shown(evidence),
            "412 \n* 412 : __poll|/usr/lib64/libc.so.6 < ncclProxyService|/usr/lib64/libnccl.so.2\n"
            "  415 : pthread_cond_wait|\n");
}

TEST(NativeBacktrace, ThreadsThatComeAgainAreOfAnotherProcess) {
  const std::string text =
      "Thread 2 (LWP 8):\n#0  0x1 in poll ()\nThread 1 (LWP 7):\n#0  0x1 in read ()\n"
      "Thread 1 (LWP 7):\n#0  0x1 in write ()\n";
  EXPECT_EQ(shown(read_evidence("x", text)), "7 \n  8 : poll|\n* 7 : read|\n7 \n* 7 : write|\n");
}

TEST(NativeBacktrace, ABareBacktraceIsOneThread) {
  EXPECT_EQ(shown(read_evidence("x", "#0  0x1 in poll ()\n#1  main () at a.c:3\n")),
            "-1 \n* -1 : poll| < main|a.c:3\n");
}

TEST(NativeBacktrace, ACutStackIsReadAsFarAsItGoes) {
  const std::string text = seed("native_backtrace/gdb.txt");
  for (std::size_t size = 0; size < text.size(); size += 13) {
    Evidence evidence;
    parse_backtrace(std::string_view(text).substr(0, size), evidence);
    EXPECT_LE(evidence.process_samples.size(), 1u);
  }
}

TEST(NativeBacktrace, OtherNumberedLinesAreNoStack) {
  EXPECT_FALSE(sniff_backtrace("#0 first\n#1 second\n#2 third\n"));
  EXPECT_FALSE(sniff_backtrace("frame #0: c10::Error\nframe #1: main\n"));
  EXPECT_FALSE(sniff_backtrace("Thread 3 (pool) started\n# a comment\n"));
}

TEST(NativeFrame, NamesAreThoseThatPeopleKnow) {
  EXPECT_EQ(short_function("void c10::Future<int>::wait(int) const"), "c10::Future<…>::wait");
  EXPECT_EQ(short_function("std::vector<std::pair<int, int> >::operator[](unsigned long)"),
            "std::vector<…>::operator[]");
  EXPECT_EQ(short_function("operator<<(std::ostream&)"), "operator<<");
  EXPECT_EQ(short_function("Work::operator()() const"), "Work::operator()");
  EXPECT_EQ(short_function("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
  EXPECT_EQ(short_function("f::{lambda(int)#3}::_FUN(int) ()"), "f::{…}::_FUN");
  EXPECT_EQ(short_function("<signal handler called>"), "<signal handler called>");
  EXPECT_EQ(short_function(""), "");
  EXPECT_EQ(short_function("operator"), "operator");
  EXPECT_EQ(short_function("operator<"), "operator<");
}

}  // namespace
}  // namespace unhang::formats::stacks
