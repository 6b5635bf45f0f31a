// SPDX-License-Identifier: Apache-2.0
//
// Stacks come from broken machines and strangers: whatever happens to the bytes, the readers end, keep to
// their bounds and give the same of the same.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "formats/catalogue.h"
#include "formats/stacks/corpus_for_tests.h"
#include "formats/stacks/embedded_stacks.h"
#include "formats/stacks/faulthandler.h"
#include "formats/stacks/native_backtrace.h"
#include "formats/stacks/process_state.h"
#include "formats/stacks/py_spy.h"
#include "formats/stacks/sample_list.h"

namespace unhang::formats::stacks {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts{seed("py_spy/two.txt"),
                                              seed("py_spy_json/two.json"),
                                              seed("native_backtrace/py_bt.txt"),
                                              seed("faulthandler/fatal.txt"),
                                              seed("native_backtrace/gdb.txt"),
                                              seed("native_backtrace/eu_stack.txt"),
                                              seed("process_state/stuck.json")};
  return texts;
}

// Pieces of all seeds in any order, with bytes changed.
std::string damaged() {
  std::string out;
  const int pieces = *rc::gen::inRange(1, 6);
  for (int i = 0; i < pieces; ++i) {
    const std::string& text = seeds()[*rc::gen::inRange<std::size_t>(0, seeds().size())];
    const auto from = *rc::gen::inRange<std::size_t>(0, text.size());
    out += text.substr(from, *rc::gen::inRange<std::size_t>(0, text.size()));
  }
  const int changes = *rc::gen::inRange(0, 20);
  for (int i = 0; i < changes && !out.empty(); ++i)
    out[*rc::gen::inRange<std::size_t>(0, out.size())] = static_cast<char>(*rc::gen::inRange(0, 256));
  return out;
}

void keeps_bounds(const Evidence& evidence) {
  for (const model::ProcessSample& process : evidence.process_samples) {
    RC_ASSERT(process.pid >= -1);
    for (const model::ThreadSample& thread : process.threads) {
      RC_ASSERT(thread.thread >= -1);
      RC_ASSERT(thread.frames.size() <= 2 * kMaxFramesOfThread);
      for (const model::StackFrame& frame : thread.frames) {
        RC_ASSERT(frame.function.size() <= kMaxName);
        RC_ASSERT(frame.file.size() <= kMaxName);
        RC_ASSERT(frame.line >= 0);
      }
    }
  }
}

RC_GTEST_PROP(DamagedStacks, EveryReaderKeepsItsPromises, ()) {
  const std::string text = damaged();
  for (const auto parse :
       {parse_py_spy_text, parse_py_spy_json, parse_backtrace, parse_faulthandler, parse_process_state}) {
    Evidence once, twice;
    parse(text, once);
    parse(text, twice);
    keeps_bounds(once);
    RC_ASSERT(shown(once) == shown(twice));
  }
  keeps_bounds(read_evidence("x", text));
}

RC_GTEST_PROP(DamagedStacks, BlocksOfALogMayEndAnywhere, ()) {
  const std::string text = "2026-11-29 a line of the job\n" + damaged();
  EmbeddedStacks whole;
  whole.feed(text);
  Evidence of_whole;
  whole.finish(of_whole);
  EmbeddedStacks parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 200);
    parts.feed(std::string_view(text).substr(at, size));
    at += size;
  }
  Evidence of_parts;
  parts.finish(of_parts);
  RC_ASSERT(shown(of_parts) == shown(of_whole));
}

TEST(DamagedStacks, TooManyFramesAreCounted) {
  std::string text =
      "Process 7: python3\nPython v3.11.2 (/usr/bin/python3)\n\nThread 7 (idle): \"MainThread\"\n";
  for (std::size_t i = 0; i < kMaxFramesOfThread + 5; ++i) text += "    f (a.py:1)\n";
  const Evidence evidence = read_evidence("x", text);
  EXPECT_EQ(evidence.process_samples[0].threads[0].frames.size(), kMaxFramesOfThread);
  ASSERT_EQ(evidence.problems.size(), 1u);
  EXPECT_EQ(evidence.problems[0].code, "too_many");
  EXPECT_TRUE(evidence.problems[0].text.starts_with("5 processes, threads or frames"));
}

}  // namespace
}  // namespace unhang::formats::stacks
